# docker build -t compileboard .
# docker run --init --rm -p 127.0.0.1:8501:8501 -v compileboard:/data compileboard
#
# The image offers the samples and opens trace logs. COMPILEBOARD_ALLOW_CODE=1 lets code run in it, for those who open the address
# with the token that `docker logs` shows.
# Hosts other than localhost must be named: -e STREAMLIT_SERVER_ALLOWED_HOSTS="board.example.org localhost 127.0.0.1"
FROM python:3.12-slim

RUN apt-get update \
    && apt-get install --yes --no-install-recommends g++ \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /app

# pip reads it from the environment. For an image without CUDA, a fifth of the size, give the index of PyTorch's CPU builds:
# docker build --build-arg PIP_EXTRA_INDEX_URL=… -t compileboard .
ARG PIP_EXTRA_INDEX_URL
COPY requirements.txt .
RUN pip install --no-cache-dir "$(grep '^torch==' requirements.txt)" \
    && pip install --no-cache-dir -r requirements.txt

RUN useradd --create-home --uid 10001 compileboard \
    && install --directory --owner compileboard --group compileboard /data
COPY . .

ENV COMPILEBOARD_HOME=/data \
    COMPILEBOARD_ALLOW_CODE=0 \
    STREAMLIT_SERVER_ADDRESS=0.0.0.0 \
    STREAMLIT_SERVER_PORT=8501 \
    STREAMLIT_BROWSER_SERVER_ADDRESS=localhost \
    PYTHONUNBUFFERED=1

USER compileboard
VOLUME /data
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
CMD ["python", "-m", "streamlit", "run", "dashboard.py"]
