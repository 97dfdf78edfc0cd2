"""What all tests share: no hub and no fetched data, and a busy machine's slowness is no failure."""

import os

from hypothesis import settings

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["XDG_DATA_HOME"] = os.devnull

settings.register_profile("tacit", deadline=None)
settings.load_profile("tacit")
