# compose.yaml builds and starts it, with all that it need not do taken away from it; docs/deploying.md says how.
#
# The image offers the samples and opens trace logs. COMPILEBOARD_ALLOW_CODE=1 lets code run in it, for those who open the address
# with the token that its log shows.

# Python on Debian (3.11 to 3.13), by its digest: what a tag means differs from day to day.
ARG PYTHON_IMAGE
FROM ${PYTHON_IMAGE}

RUN apt-get update \
    && apt-get install --yes --no-install-recommends g++ \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /app

# pip reads them from the environment. The index of PyTorch's CPU builds makes an image without CUDA, a fifth of the size.
ARG PIP_INDEX_URL
ARG PIP_EXTRA_INDEX_URL
# What hashes.txt lists is what was chosen, whatever an index says. The second line brings torch, and what its build brings.
COPY requirements.txt constraints.txt hashes.txt ./
RUN pip install --no-cache-dir --no-deps --only-binary :all: --require-hashes --requirement hashes.txt \
    && pip install --no-cache-dir --constraint constraints.txt --requirement requirements.txt \
    && pip check

RUN useradd --create-home --uid 10001 compileboard \
    && install --directory --owner compileboard --group compileboard --mode 700 /data
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
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 CMD ["python", "-m", "pages.gate.health"]
CMD ["python", "-m", "streamlit", "run", "dashboard.py"]
