"""Set before any test module imports huggingface_hub, which reads it once."""

import os

# The stand-in of the Hub stores large files by plain LFS, which the client uses without its Xet extension.
os.environ["HF_HUB_DISABLE_XET"] = "1"
os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
