"""What all tests share: no hub is ever asked, and a busy machine's slowness is no failure."""

import os

from hypothesis import settings

os.environ["HF_HUB_OFFLINE"] = "1"

settings.register_profile("tacit", deadline=None)
settings.load_profile("tacit")
