"""Signatures of the compiled functions for inspect.signature(), and so for editors and notebooks: nanobind keeps a
function's parameters only as the first line of its documentation."""

# ast and inspect take long to import and are seldom needed: they are imported on first use.


class _Annotation(str):
    """A type as it is written in the signature; help() shows it without quotes."""

    __repr__ = str.__str__


def signature_of(function):
    import ast
    from inspect import Parameter, Signature

    def written(node):
        return _Annotation(ast.unparse(node)) if node else Parameter.empty

    definition = ast.parse(f"def {function.__doc__.splitlines()[0]}: ...").body[0]
    args = definition.args
    in_order = args.posonlyargs + args.args
    kinds = [Parameter.POSITIONAL_ONLY] * len(args.posonlyargs) + [Parameter.POSITIONAL_OR_KEYWORD] * len(args.args)
    listed = list(zip(in_order, kinds, [None] * (len(in_order) - len(args.defaults)) + args.defaults))
    if args.vararg:
        listed.append((args.vararg, Parameter.VAR_POSITIONAL, None))
    listed += [(arg, Parameter.KEYWORD_ONLY, default) for arg, default in zip(args.kwonlyargs, args.kw_defaults)]
    if args.kwarg:
        listed.append((args.kwarg, Parameter.VAR_KEYWORD, None))
    parameters = [
        Parameter(arg.arg, kind, default=ast.literal_eval(default) if default else Parameter.empty,
                  annotation=written(arg.annotation))
        for arg, kind, default in listed]
    return Signature(parameters, return_annotation=written(definition.returns))


def _without_self(signature):
    return signature.replace(parameters=list(signature.parameters.values())[1:])


def _signature_of_bound(method):
    return _without_self(signature_of(method.__func__))


class _OfConstructor:
    """A class's signature: that of its __init__, which may belong to a derived class."""

    def __get__(self, instance, owner):
        from inspect import signature

        return _without_self(signature(owner.__init__))


def tell_signatures(classes, function, method, bound_method):
    """Makes inspect.signature() work for the classes and, given one example of each kind of function that nanobind
    makes, for all functions of this module."""
    for made in classes:
        made.__signature__ = _OfConstructor()
    for kind in (type(function), type(method)):
        kind.__signature__ = property(signature_of)
    type(bound_method).__signature__ = property(_signature_of_bound)
