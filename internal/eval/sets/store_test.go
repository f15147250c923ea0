package sets

import (
	"fmt"
	"testing"
)

func TestPartsOf(t *testing.T) {
	args, outputs := partsOf([]byte(`[{"text":"a","functionCall":{"id":"c1","args":{"n":1}}},
		{"functionResponse":{"id":"c1","response":{"output":"x"}},"functionCall":{"id":"c2","args":[1]}},
		{"FunctionCall":{"id":"c3","args":{"n":1}},"functionresponse":{"id":"c3","response":"y"}}]`))
	if got := fmt.Sprint(args, outputs); got != "map[c1:map[n:1]] map[c1:x]" {
		t.Errorf("got %s", got)
	}
	if args, outputs = partsOf([]byte(`{}`)); len(args)+len(outputs) > 0 {
		t.Errorf("got %v, %v", args, outputs)
	}
}
