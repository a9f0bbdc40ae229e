"""Constants of the joint parser (spec section 0). The float32 ones are float32 scalars so that both ways of running a rule give the same bits."""

from __future__ import annotations

import numpy as np

D2R = np.float32(0.017453292519943295)
R2D = np.float32(57.29577951308232)
FLT_MAX = np.float32(3.4028234663852886e38)
SENTINEL = np.float32(0.5e38)  # a bound beyond it counts as unlimited
ZERO = np.float32(0)
ONE = np.float32(1)
SCALE_EPS = 1e-10  # floor of a squared scale, and the scale that replaces it
FRAME_TOLERANCE = 0.001  # stage length, or a quaternion lane
