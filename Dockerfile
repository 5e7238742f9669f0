# Bufferlab without Python, Rust or Node on the machine:
#
#     make dist && docker build -t bufferlab .
#     docker run --rm -v "$PWD:/work" bufferlab advise examples/home-gateway.toml
#     docker run --rm --network host bufferlab serve      # the page, at the address that it prints
FROM python:3.13-slim
COPY constraints.txt dist/*.whl /tmp/
RUN pip install --no-cache-dir --constraint /tmp/constraints.txt /tmp/*.whl && rm /tmp/*.whl /tmp/constraints.txt \
    && useradd --create-home bufferlab
USER bufferlab
WORKDIR /work
ENTRYPOINT ["bufferlab"]
CMD ["--help"]
