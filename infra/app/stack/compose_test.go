package stack_test

import (
	"fmt"
	"testing"
)

// Only compose has the layer with ffmpeg, for the architecture of the functions. The local
// system has no layer: its functions use the ffmpeg of the machine.
func TestComposeHasItsTools(t *testing.T) {
	for name, r := range acme.of("AWS::Lambda::Function") {
		composes := r.Properties["FunctionName"] == "acme-prod-compose"
		layers, _ := r.Properties["Layers"].([]any)
		if composes != (len(layers) == 1) {
			t.Errorf("%s has the layers %v", name, layers)
		}
		if path := r.Properties.at("Environment", "Variables", "FFMPEG_PATH"); composes && path != "/opt/bin/ffmpeg" {
			t.Errorf("it finds ffmpeg at %v", path)
		}
	}
	layers := acme.of("AWS::Lambda::LayerVersion")
	for name, r := range layers {
		if fmt.Sprint(r.Properties["CompatibleArchitectures"]) != "[arm64]" {
			t.Errorf("%s is for %v", name, r.Properties["CompatibleArchitectures"])
		}
	}
	if len(layers) != 1 || len(local.of("AWS::Lambda::LayerVersion")) != 0 {
		t.Errorf("there are %d layers, and %d in the local system", len(layers),
			len(local.of("AWS::Lambda::LayerVersion")))
	}
}
