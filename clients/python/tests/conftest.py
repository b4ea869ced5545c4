import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def openapi() -> dict[str, Any]:
    file = Path(__file__).parents[3] / "docs" / "openapi.json"
    description: dict[str, Any] = json.loads(file.read_text())
    return description
