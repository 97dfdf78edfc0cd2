"""What all tests share: no hub is ever asked."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"
