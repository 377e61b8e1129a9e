"""Adds this directory to the path of modules; a test imports it before them."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
