"""Health check of the container: `python -m pages.gate.health` exits with 0 if the server answers.

Port and path of the server come from the environment.
"""

import os
import sys
from http.client import HTTPConnection, HTTPException

LIMIT_S = 4.0


def healthy(port: int, base: str = "") -> bool:
    """Return True if the server's health route answers on loopback, without a proxy."""
    path = "/".join(["", *filter(None, [base.strip("/")]), "_stcore", "health"])
    connection = HTTPConnection("127.0.0.1", port, timeout=LIMIT_S)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status == 200 and answer.read(8) == b"ok"
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    port, base = (os.environ.get(f"STREAMLIT_SERVER_{name}", "") for name in ("PORT", "BASE_URL_PATH"))
    sys.exit(not healthy(int(port or 8501), base))
