"""What Stoker's own tests look at. Not for users: it changes without notice."""

from stoker._stoker.testing import (
    available_isas, draw_boxes, draw_erased, draw_mixes, draw_steps, loader_options, log, metrics, operators, select_isa)

__all__ = ["available_isas", "draw_boxes", "draw_erased", "draw_mixes", "draw_steps", "loader_options", "log", "metrics",
           "operators", "select_isa"]
