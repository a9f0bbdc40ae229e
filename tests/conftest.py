"""Settings of all tests: no deadlines, since the first call of a kernel compiles it."""

from hypothesis import HealthCheck, settings

settings.register_profile("ovsim", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ovsim")
