package adapter_test

import (
	"testing"

	"github.com/content-automation/api/pkg/adapter/provider"
)

func TestConfigured(t *testing.T) {
	for list, want := range map[string]map[string]bool{
		"":                   {"": false, "fal": false},
		" , ":                {"": false, " ": false},
		"fal":                {"fal": true, "fa": false, "heygen": false, "": false},
		"fal, heygen,,polly": {"fal": true, "heygen": true, "polly": true, "bedrock": false, "": false},
	} {
		c := provider.ParseConfigured(list)
		for name, has := range want {
			if c.Has(name) != has {
				t.Errorf("%q has %q: %v, want %v", list, name, !has, has)
			}
		}
	}
	if (provider.Configured{}).Has("fal") {
		t.Error("the zero value has a provider")
	}
}
