# docker build -t compileboard .
# docker run --init --rm -p 127.0.0.1:8501:8501 -v compileboard:/data compileboard
#
# The image offers the samples and opens trace logs; COMPILEBOARD_ALLOW_CODE=1 lets visitors run code of their own in it.
# Hosts other than localhost must be named: -e STREAMLIT_SERVER_ALLOWED_HOSTS="board.example.org localhost 127.0.0.1"
FROM python:3.12-slim

RUN apt-get update \
    && apt-get install --yes --no-install-recommends g++ \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /app

# CPU builds of torch are there only; for an image with CUDA: --build-arg TORCH_INDEX=https://pypi.org/simple
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
COPY requirements.txt .
RUN pip install --no-cache-dir --extra-index-url "$TORCH_INDEX" "$(grep '^torch==' requirements.txt)" \
    && pip install --no-cache-dir --extra-index-url "$TORCH_INDEX" -r requirements.txt

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
