"""Settings of all tests: no deadlines, since a first call compiles; the physics schemas are registered before any test opens a stage."""

import os

from hypothesis import HealthCheck, settings

from consumer.usd.schemas import register

register()

settings.register_profile("ovsim", deadline=None, derandomize="CI" in os.environ, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ovsim")
