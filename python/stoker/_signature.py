"""What inspect.signature() is told of the compiled functions, so that editors and notebooks know them too: nanobind keeps
a function's parameters only as the first line of its documentation."""

# ast and inspect take long to import, and are seldom wanted: not before they are.


class _Annotation(str):
    """A type as it is written there; help() shows it without quotes."""

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
    """A class's signature: that of its __init__, be it ours or that of a class that was made from ours."""

    def __get__(self, instance, owner):
        from inspect import signature

        return _without_self(signature(owner.__init__))


def tell_signatures(classes, function, method, bound_method):
    """From then on inspect.signature() works for the classes and, given one each of what nanobind makes, for all functions
    of this module."""
    for made in classes:
        made.__signature__ = _OfConstructor()
    for kind in (type(function), type(method)):
        kind.__signature__ = property(signature_of)
    type(bound_method).__signature__ = property(_signature_of_bound)
