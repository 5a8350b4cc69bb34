package main

import (
	"testing"

	"github.com/content-automation/api/pkg/record/pace"
)

func TestAProviderIsTurnedOffAndLimited(t *testing.T) {
	o := newOperator(t)
	var is pace.Settings
	o.run(&is, "provider", "off", "fal")
	o.run(&is, "provider", "off", "fal")
	if o.run(&is, "provider", "limit", "stable-image-core", "60"); len(is.Off) != 1 || is.Off[0] != "fal" ||
		is.PerMinute["stable-image-core"] != 60 {
		t.Errorf("%+v", is)
	}
	if s, err := pace.Read(t.Context(), o.db); err != nil || !s.IsOff("fal", "flux-dev") || s.IsOff("bedrock", "nova-pro") {
		t.Errorf("%+v, %v", s, err)
	}
	o.run(&is, "provider", "on", "fal")
	is = pace.Settings{}
	o.run(&is, "provider", "limit", "stable-image-core", "0")
	if o.run(&is, "provider", "show"); len(is.Off) != 0 || len(is.PerMinute) != 0 {
		t.Errorf("%+v", is)
	}
	for _, args := range [][]string{{"off", "openai"}, {"limit", "fal", "many"}, {"limit", "fal", "-1"}} {
		if out, err := o.try(append([]string{"provider"}, args...)...); err == nil {
			t.Errorf("%v: %s", args, out)
		}
	}
}
