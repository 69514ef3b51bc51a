from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# Machines that run tests are shared and slow at times: a deadline would fail for reasons that are not the program's.
settings.register_profile("gjit", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gjit"))
