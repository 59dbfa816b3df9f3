"""What geometry alone says for and against a line."""

from __future__ import annotations

import numpy as np
from things import thing

from atop_backend.contracts import JointMotion
from atop_backend.motion.features import shape_features
from atop_backend.motion.terms import geometry_terms
from atop_backend.synthetic.solids import box

RIM, WALL = 0.25, 0.02


def test_a_line_amid_its_contact_is_as_well_placed_as_one_along_it():
    """A lever's cap touches the rim of its socket and turns about the middle of it."""
    inner = RIM - WALL
    rim = [
        box((-RIM, -RIM, -0.5), (RIM, -inner, 0.0)),
        box((-RIM, inner, -0.5), (RIM, RIM, 0.0)),
        box((-RIM, -inner, -0.5), (-inner, inner, 0.0)),
        box((inner, -inner, -0.5), (RIM, inner, 0.0)),
    ]
    cap = [box((-0.3, -0.3, 0.001), (0.3, 0.3, 0.1)), box((0.3, -0.04, 0.02), (0.9, 0.04, 0.08))]
    shape, joint = thing(rim, cap, JointMotion("revolute", (0, 0, 1), (0, 0, 0), 0, 1))
    features = shape_features(shape, 2048, np.random.default_rng(0))
    middle = np.array(joint.origin)
    end = np.array([shape.vertices[:, 0].max(), *middle[1:]])  # of the lever, off the socket
    found = geometry_terms(
        features,
        np.array([True, True]),
        np.array([joint.axis, joint.axis]),
        np.stack([middle, end]),
        np.array([0.5, 0.5]),
    )
    assert found.contact[0] == 0
    assert found.contact[1] > 0.5
