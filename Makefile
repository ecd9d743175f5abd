# Every target makes what it needs: pinned environments under .venvs, the zip under build.
# Needs python3 with pip and venv; PYTHON=python3.13 takes another one. What the targets do: scripts/tasks.py.
PYTHON ?= python3
TASK = @$(PYTHON) -u -m scripts.tasks

.PHONY: help test solver matrix zip check window bench demo sample release pictures clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST)

test: ## all tests, on the Blender that fits python3; ARGS="-k reach" goes to pytest
	$(TASK) test $(ARGS)

solver: ## the solver's tests, which need NumPy and no Blender: Python 3.12 and 3.14, too
	$(TASK) solver $(ARGS)

matrix: ## all tests on every Blender we support; VERSIONS="5.2 5.3" for some
	$(TASK) matrix $(VERSIONS)

zip: ## build/planar_ik-VERSION.zip, built and validated by Blender's extension tool
	$(TASK) zip

check: ## lint, format and types
	$(TASK) check

window: ## the tests in a real window
	$(TASK) window $(ARGS)

bench: ## how fast, beside what Blender has; ARGS="live" for one part
	$(TASK) bench $(ARGS)

demo: ## the walking creatures: build/demo.blend and its pictures
	$(TASK) demo $(ARGS)

sample: ## build/planar_ik_sample.blend: a puppet, a biped and machines, as assets
	$(TASK) sample $(ARGS)

release: ## what a release has beside the zip and the sample: pictures, checksums, notes
	$(TASK) release

pictures: ## the pictures of the guides in docs/, from the real window
	$(TASK) pictures

clean: ## remove .venvs and build
	$(TASK) clean
