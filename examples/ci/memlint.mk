# Rules for make:  include ci/memlint.mk
# make memory compares every model in MODELS with its committed result in memory/, make memory-accept writes these.
# make itself exits with 2 whatever memlint's status was: don't tell verdicts apart behind it.
MEMLINT ?= memlint
MODELS ?= $(wildcard *.onnx)
MEMLINT_OPTIONS ?= --max-increase=5%

memory: $(MODELS:%=memory/%.checked)
$(MODELS:%=memory/%.checked): memory/%.checked: %
	$(MEMLINT) $< --baseline=memory/$<.json $(MEMLINT_OPTIONS)

memory-accept:
	mkdir -p memory
	for m in $(MODELS); do $(MEMLINT) $$m --baseline=memory/$$m.json --update-baseline $(MEMLINT_OPTIONS) -q || exit; done

.PHONY: memory memory-accept $(MODELS:%=memory/%.checked)
