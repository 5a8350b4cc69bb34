package stack_test

import (
	"strings"
	"testing"
)

// The stack that is deployed last has the running version as an output.
func TestTheVersionIsAnOutputOfTheLastStack(t *testing.T) {
	for name, s := range globex {
		version, has := s.Outputs["Version"]
		if last := strings.HasSuffix(name, "-api"); has != last || last && !mentions(version, "1f2e3d4c5b6a") {
			t.Errorf("%s has the version %v", name, version)
		}
	}
	for name, s := range acme {
		if version, has := s.Outputs["Version"]; has {
			t.Errorf("%s without a version has %v", name, version)
		}
	}
}
