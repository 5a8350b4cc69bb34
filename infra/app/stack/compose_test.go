package stack_test

import (
	"fmt"
	"testing"

	"github.com/content-automation/api/pkg/cloud/topology"
)

// Only compose and import-media have the layer with ffmpeg and the library of C2PA, for the architecture of the
// functions. The local system has no layer: its functions use the tools of the machine.
func TestComposeHasItsTools(t *testing.T) {
	for name, r := range acme.of("AWS::Lambda::Function") {
		composes := r.Properties["FunctionName"] == "acme-prod-compose"
		layers, _ := r.Properties["Layers"].([]any)
		reads := composes || r.Properties["FunctionName"] == "acme-prod-import-media"
		if path := r.Properties.at("Environment", "Variables", "C2PA_PATH"); reads && path != "/opt/lib/libc2pa_c.so" {
			t.Errorf("%s finds the library at %v", name, path)
		}
		if reads != (len(layers) == 1) {
			t.Errorf("%s has the layers %v", name, layers)
		}
		if path := r.Properties.at("Environment", "Variables", "FFMPEG_PATH"); reads && path != "/opt/bin/ffmpeg" {
			t.Errorf("%s finds ffmpeg at %v", name, path)
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

// The private key that signs media and dossiers never leaves KMS, and the roles that sign them may use it, for one
// algorithm: signed files of callers that lose what is personal are signed anew.
func TestOnlyTheSignersOfMediaAndDossiersSign(t *testing.T) {
	for _, f := range topology.Functions {
		may := len(permitted(t, acme, topology.Title(f.Name), "kms:Sign")) > 0
		if may != (f.Name == "compose" || f.Name == "content" || f.Name == "import-media") {
			t.Errorf("%s may sign: %v", f.Name, may)
		}
	}
}
