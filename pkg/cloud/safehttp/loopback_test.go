package safehttp_test

import (
	"testing"

	"github.com/content-automation/api/pkg/cloud/safehttp"
)

func TestLoopbackIsForTheLocalSystemAlone(t *testing.T) {
	for _, c := range []struct {
		setting, stage string
		want, ok       bool
	}{
		{"", "prod", false, true},
		{"false", "prod", false, true},
		{"", "local", false, true},
		{"false", "local", false, true},
		{"true", "local", true, true},
		{"true", "prod", false, false},
		{"true", "", false, false},
		{"true", "Local", false, false},
		{"1", "staging", false, false},
		{"yes", "local", false, false},
	} {
		got, err := safehttp.AllowLoopback(c.setting, c.stage)
		if got != c.want || (err == nil) != c.ok {
			t.Errorf("AllowLoopback(%q, %q) = %v, %v", c.setting, c.stage, got, err)
		}
	}
}
