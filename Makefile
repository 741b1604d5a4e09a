# PyFlow from a clone: every target sets up what it needs first, and does nothing twice.
#
#   make demo     set everything up and run examples/flights.py in both modes; SPARK=4.2: on that Spark
#   make fraud-scoring
#                 score payments from Kafka to Kafka by examples/fraud_scoring.py, until Ctrl-C;
#                 OPTIONS="--seconds 60" for a minute, "--fresh" from the beginning
#   make cdn-access-log
#                 count accesses per province from Kafka into MariaDB by examples/cdn_access_log,
#                 with a page that shows it, until Ctrl-C; OPTIONS="--seconds 60", "--fresh"
#   make page-visits
#                 make visits of page views from Kafka by examples/page_visits, with a live view in
#                 the terminal, until Ctrl-C; OPTIONS="--seconds 60", "--fresh"
#   make check    set everything up, check style and types, run the unit tests and a slice of the rest
#   make test     set everything up, check style and types and run the tests
#   make test-all the same in full and on every Python (four hours on two idle cores)
#   make bench    measure; results go to docs/benchmarks; SPARK=4.2: on that Spark, to
#                 docs/benchmarks/spark-4.2
#   make bench-latency
#                 measure from Kafka through functions to Kafka: 25 minutes;
#                 OPTIONS="--seconds 4 --warm-up 4" for trying
#   make kafka    start a Kafka broker for trying, on the loopback device (PORT=9092), until Ctrl-C
#   make soak     run mixed functions for a quarter of an hour and look for leaks (MINUTES=60 for longer)
#   make sanitize run the row codec's tests under AddressSanitizer and UBSan
#   make fuzz     the same with very many generated rows, whole and damaged (EXAMPLES=20000 for more)
#   make build    the plugin jar: build/libs/pyflow-spark-4.3_2.13-VERSION.jar; SPARK=4.2: that for
#                 Spark 4.2, in build/spark-4.2
#   make test-on SPARK=4.2
#                 run the tests on that Spark; MARK=slice for a slice of them,
#                 OPTIONS=tests/test_types.py for some
#   make spark-next
#                 build against the newest PySpark, pre-releases included, and report what breaks
#   make dist     a wheel for other machines, and a Maven repository with the jar: dist/
#   make lint     linters, format checks, types
#   make format   format all sources
#   make record   record what PyFlink answers in tests/table/reference, for hours;
#                 PARTS="sql streams" for some of it
#   make docs     write the settings reference of docs/configuration.md
#   make site     the docs as pages with search and an API reference: build/site
#   make doctor   check this environment
#   make python VERSION=3.14
#                 build a CPython, which the other targets then use too; VERSION=3.14t: without a GIL
#   make clean    remove all that was built and installed here
#
# PYFLOW_PYTHONS=/path/to/python3.13,... builds and tests for these Pythons only.

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
.DEFAULT_GOAL := build
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-print-directory

# An active environment or another Spark must not leak into the build.
unexport SPARK_HOME PYTHONPATH PYTHONHOME VIRTUAL_ENV PYSPARK_PYTHON PYSPARK_DRIVER_PYTHON
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1

python := .venv/bin/python
gradle := gradle --no-daemon --console=plain --quiet

flights := vega-datasets-3.2.1
sanitized := build/native-sanitize
generated := -m generated --hypothesis-show-statistics
data := build/data/flights-3m.parquet build/data/airports.csv
portable := build/portable

# Versions of Spark beside the newest that there is a jar for.
older_sparks := $(patsubst requirements/pyspark-%.txt,%,$(wildcard requirements/pyspark-*.txt))

sources := $(shell find native jvm/src pyflow -type f -not -name '*.pyc' -not -name '*.jar') \
  build.gradle settings.gradle scripts/find_pythons.py LICENSE NOTICE

native := $(shell find native -name '*.cc' -o -name '*.h')

# A test file stays in one process, whose Spark session its tests share. Three processes keep two
# cores busy: tests wait, too.
pytest := -m pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder --durations 20

# What the environments must be ready for, and which Pythons have one.
purposes := run
ifneq (,$(filter lint format,$(MAKECMDGOALS)))
  purposes := run lint
endif
ifneq (,$(filter dist,$(MAKECMDGOALS)))
  purposes := run dist
endif
ifneq (,$(filter site,$(MAKECMDGOALS)))
  purposes := run site
endif
ifneq (,$(filter check sanitize fuzz,$(MAKECMDGOALS)))
  purposes := run test lint
endif
ifneq (,$(filter fraud-scoring cdn-access-log page-visits,$(MAKECMDGOALS)))
  purposes := run test
endif
ifneq (,$(filter test,$(MAKECMDGOALS)))
  purposes := --pythons slice run test lint
endif
ifneq (,$(filter bench-latency,$(MAKECMDGOALS)))
  purposes := run test bench
endif
ifneq (,$(filter test-all bench soak,$(MAKECMDGOALS)))
  purposes := --pythons all run test lint
endif

.PHONY: demo fraud-scoring cdn-access-log page-visits check test test-on test-all sanitize fuzz bench \
  bench-latency kafka soak build dist lint format record docs site doctor data clean set-up python spark-next

demo: build data
	$(if $(SPARK),.venvs/spark-$(SPARK)/bin/python,$(python)) examples/flights.py

fraud-scoring: build build/kafka.stamp
	$(python) examples/fraud_scoring.py $(OPTIONS)

cdn-access-log: build build/kafka.stamp
	$(python) examples/cdn_access_log/main.py $(OPTIONS)

page-visits: build build/kafka.stamp
	$(python) examples/page_visits/main.py $(OPTIONS)

check: lint build
	$(gradle) test
	$(python) $(pytest) -m "slice or generated"

# All tests on the newest Python, and those of the slice on the oldest, without a GIL, and with each
# older Spark.
test: lint build sanitize build/kafka.stamp build/spark.jsa $(older_sparks:%=build/jar-%.stamp)
	@# Gradle puts the jar in its place anew after those for older Sparks: not while tests use it.
	$(gradle) jar test
	$(python) $(pytest)
	@for minor in $$(cat build/pythons-of-slice); do $(MAKE) test-on MINOR=$$minor MARK=slice || exit; done
	@for spark in $(older_sparks); do $(MAKE) test-on SPARK=$$spark MARK=slice || exit; done

# The tests with a mark, or all, on one of the other Pythons or with an older Spark. What is in the
# package does not depend on Spark.
test-on: MARK ?= $(if $(SPARK),,slice)
test-on: where = $(if $(SPARK),spark-$(SPARK),$(MINOR))
test-on: log = build/$(or $(firstword $(MARK)),all)-tests-$(where).log
test-on: $(if $(SPARK),build build/kafka.stamp)
	@echo "PyFlow: $(or $(MARK),all) tests on $(where), see $(log)"
	@.venvs/$(where)/bin/python $(pytest) -m "$(MARK)" -p no:cacheprovider \
	  $(if $(SPARK),--ignore tests/packaging) $(OPTIONS) > $(log) 2>&1 \
	  || { tail -n 200 $(log); exit 1; }
	@echo "PyFlow: $(where): $$(tail -n 1 $(log))"

# What `make test` leaves out, once in full, with every form of thread mode; then the comparison of
# the modes with other generated programs, in a zone with daylight saving time, and on the other
# Pythons with what depends on them; then all tests with each older Spark.
test-all: test
	@echo "PyFlow: complete tests on the newest Python"
	$(python) $(pytest) --complete -m "complete or compared or core"
	@echo "PyFlow: comparison in another time zone"
	TZ=America/New_York $(python) $(pytest) --examples 20 -m compared
	@for minor in $$(tail -n +2 build/pythons | cut -f 1); do \
	  $(MAKE) test-on MINOR=$$minor MARK="core or (compared and not complete)" \
	    OPTIONS="--complete --examples 20" || exit; \
	done
	@for spark in $(older_sparks); do $(MAKE) test-on SPARK=$$spark || exit; done

export EXAMPLES ?= 2000

# The codec's tests against instrumented libraries; the runtime has to be there before Python, and
# what it reports must not be captured by a test that then ends with the process.
sanitize fuzz: build
	@cmake -S native -B $(sanitized) -DPYFLOW_SANITIZE=address,undefined \
	  -DPYFLOW_PYTHONS=$$(head -n 1 build/pythons | cut -f 2) > build/sanitize.log
	PYFLOW_NATIVE_BUILD=$(CURDIR)/$(sanitized) PYTHONMALLOC=malloc \
	  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	  LD_PRELOAD="$$($${CXX:-c++} -print-file-name=libasan.so) $$($${CXX:-c++} -print-file-name=libstdc++.so.6)" \
	  $(python) $(pytest) --capture=sys --hypothesis-profile=$@ $(if $(filter fuzz,$@),$(generated)) tests/codec

bench: build
	$(if $(SPARK),.venvs/spark-$(SPARK)/bin/python,$(python)) -m benchmarks \
	  $(if $(SPARK),--out docs/benchmarks/spark-$(SPARK)) $(OPTIONS)

bench-latency: build build/kafka.stamp
	$(python) -m benchmarks.latency $(OPTIONS)

kafka: build/kafka.stamp
	$(python) -m scripts.kafka_broker --port $(or $(PORT),9092)

soak: build
	$(python) -m benchmarks.soak --minutes $(or $(MINUTES),10)

build: build/jar$(addprefix -,$(SPARK)).stamp

# Zig compiles against any glibc from 2.17 on.
zig = CXX="$(CURDIR)/.venv/bin/python-zig c++ -target $(shell uname -m)-linux-gnu.2.17" \
  LDFLAGS=-Wl,--strip-debug ZIG_GLOBAL_CACHE_DIR=$(CURDIR)/$(portable)/zig
dist: build/pythons
	@rm -rf dist
	@$(zig) $(gradle) -Poutput=$(portable) mavenRepository
	@for spark in $(older_sparks); do \
	  python3 scripts/set_up.py --spark $$spark run || exit; \
	  $(zig) $(gradle) -Poutput=$(portable) -Pspark=$$spark mavenRepository || exit; \
	done
	@PYFLOW_JARS="$$(echo $(portable)/libs/*.jar $(portable)/spark-*/libs/*.jar)" \
	  $(python) -m pip wheel --quiet --no-deps \
	  --no-build-isolation --wheel-dir dist .
	@echo "PyFlow: $$(echo dist/*.whl) and dist/maven are for Python $$(cut -f 1 build/pythons | xargs)"

data: $(data)

lint: set-up
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/clang-format --dry-run -Werror $(native)
	$(gradle) checkFormat

format: set-up
	.venv/bin/ruff check --fix --exit-zero --quiet .
	.venv/bin/ruff format .
	.venv/bin/clang-format -i $(native)
	$(gradle) format

# In an environment of its own: PyFlink and PySpark want different versions of the same packages.
record:
	@python3 scripts/set_up_pyflink.py
	.venvs/pyflink/bin/python tests/table/reference/record.py $(PARTS)

docs: build
	$(python) scripts/write_settings.py docs/configuration.md

# Links that lead nowhere end it; the reference is read from the sources.
site: set-up
	@NO_MKDOCS_2_WARNING=1 $(python) -m mkdocs build --quiet
	@echo "PyFlow: open build/site/index.html, or serve it: $(python) -m http.server -b 127.0.0.1 -d build/site"

doctor: build
	@PATH="$(CURDIR)/.venv/bin:$$PATH" $(python) -m pyflow doctor

clean:
	rm -rf build dist .gradle .venv .venvs pyflow/jars

# --- set-up --------------------------------------------------------------------------------

set-up:
	@python3 scripts/set_up.py $(purposes)

python:
	@python3 scripts/build_python.py $(VERSION)

spark-next: build
	@$(python) scripts/spark_next.py $(OPTIONS)

# The set-up rewrites it only when the Pythons of this machine have changed.
build/pythons: set-up
	@:

build/jar.stamp: build/pythons $(sources)
	$(gradle) jar
	@touch $@

# For an older Spark, in whose environment tests run.
build/jar-%.stamp: build/pythons $(sources)
	@python3 scripts/set_up.py --spark $* run test
	$(gradle) -Pspark=$* jar
	@touch $@

build/kafka.stamp: build.gradle | build/pythons
	@echo "PyFlow: fetching a Kafka broker, Spark's connectors, JDBC drivers and YARN"
	$(gradle) fetchKafka fetchConnectors fetchYarn
	@touch $@

# The JVMs of the tests load Spark's classes from it.
build/spark.jsa: requirements/pyspark.txt scripts/archive_classes.py | build/jar.stamp
	@echo "PyFlow: archiving Spark's classes"
	@$(python) scripts/archive_classes.py $@ > build/archive-classes.log 2>&1 \
	  || { cat build/archive-classes.log; exit 1; }

$(data) &:
	@echo "PyFlow: fetching $(flights) from the npm registry"
	@mkdir -p build/data
	cd build/data && npm pack --silent $(subst datasets-,datasets@,$(flights))
	tar -xzf build/data/$(flights).tgz -C build/data --strip-components=2 --touch \
	  package/data/flights-3m.parquet package/data/airports.csv
	rm build/data/$(flights).tgz
