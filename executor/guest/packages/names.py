# SPDX-License-Identifier: Apache-2.0
"""names.py - the names of much-used packages; a name that is one edit away from one of them is probably a misspelling, or an
impostor that waits for it. Loaded by fetch.py."""

KNOWN = frozenset("""
absl-py accelerate aiofiles aiohttp aiosignal alembic altair annotated-types ansible anthropic anyio apscheduler arrow asgiref
astropy asyncpg attrs autopep8 azure-core babel bcrypt beautifulsoup4 biopython black bokeh boto3 botocore bottle cachetools
catboost celery certifi cffi charset-normalizer click cloudpickle colorama coverage cryptography cycler cython dash dask
databases datasets decorator deprecated django djangorestframework dnspython docker docutils duckdb elasticsearch email-validator
et-xmlfile evaluate exceptiongroup faker falcon fastapi fastavro filelock flake8 flask fonttools frozenlist fsspec gensim
geopandas gevent gitpython google-auth googleapis-common-protos gradio greenlet grpcio gunicorn h11 h5py html5lib httpcore
httplib2 httptools httpx huggingface-hub hypothesis idna imageio imbalanced-learn importlib-metadata iniconfig ipykernel ipython
isort itsdangerous jax jedi jinja2 jmespath joblib jsonpatch jsonschema jupyter jupyterlab kafka-python keras kiwisolver kombu
langchain langchain-core librosa lightgbm llvmlite loguru lxml mako markdown markdown-it-py markupsafe marshmallow matplotlib mccabe
more-itertools moto mpmath msgpack multidict mypy mysqlclient nbformat networkx nltk notebook numba numexpr numpy oauthlib openai
opencv-python opencv-python-headless openpyxl optuna orjson packaging pandas paramiko parso passlib pathspec patsy pendulum pexpect
pillow pip platformdirs playwright plotly pluggy polars prometheus-client prompt-toolkit propcache protobuf psutil psycopg
psycopg2 psycopg2-binary pyarrow pyasn1 pycparser pycryptodome pydantic pydantic-core pydub pyflakes pygame pygments pyjwt pylint
pymongo pymupdf pymysql pyopenssl pyparsing pypdf pypdf2 pyproject-hooks pytest pytest-asyncio pytest-cov python-dateutil
python-docx python-dotenv python-multipart python-pptx pytz pyyaml pyzmq rasterio redis regex reportlab requests requests-oauthlib
rich rsa ruff s3fs s3transfer safetensors scikit-image scikit-learn scipy scrapy seaborn selenium sentence-transformers sentencepiece
setuptools shap shapely simplejson six sniffio sortedcontainers soupsieve spacy sphinx sqlalchemy sqlmodel sqlparse starlette
statsmodels streamlit sympy tabulate tenacity tensorboard tensorflow termcolor textblob threadpoolctl tiktoken tokenizers toml tomli
toolz torch torchaudio torchvision tornado tox tqdm traitlets transformers trio twisted typer typing-extensions tzdata tzlocal ujson
urllib3 uvicorn uvloop virtualenv watchdog wcwidth websocket-client websockets werkzeug wheel wordcloud wrapt xarray xgboost
xlrd xlsxwriter xmltodict yarl yfinance zipp zstandard
""".split())


def _without_one(name):
    return {name[:i] + name[i + 1:] for i in range(len(name))}


def is_one_edit(a, b):
    """One letter more, less or other, or two neighbours exchanged."""
    if abs(len(a) - len(b)) == 1:
        return min(a, b, key=len) in _without_one(max(a, b, key=len))
    differs = [i for i in range(len(a)) if len(a) == len(b) and a[i] != b[i]]
    return len(differs) == 1 or (len(differs) == 2 and differs[1] == differs[0] + 1
                                 and a[differs[0]] == b[differs[1]] and a[differs[1]] == b[differs[0]])


def meant(name):
    """The much-used name that was probably meant; None: this one."""
    if name in KNOWN or len(name) < 4:
        return None
    return min((known for known in KNOWN if len(known) > 3 and is_one_edit(name, known)), default=None)
