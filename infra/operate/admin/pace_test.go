package main

import (
	"strings"
	"testing"

	"github.com/content-automation/api/infra/operate/preflight"
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
	if s, err := pace.Read(t.Context(), o.db); err != nil || !s.IsOff("fal", "flux-schnell") || s.IsOff("bedrock", "nova-pro") {
		t.Errorf("%+v, %v", s, err)
	}
	o.run(&is, "provider", "on", "fal")
	is = pace.Settings{}
	o.run(&is, "provider", "limit", "stable-image-core", "0")
	if o.run(&is, "provider", "show"); len(is.Off) != 0 || len(is.PerMinute) != 0 {
		t.Errorf("%+v", is)
	}
	o.quotas = []preflight.Quota{{Name: "Cross-region model inference requests per minute for Amazon Nova Lite", Value: 400},
		{Name: "SynthesizeSpeech transactions per second for neural voices", Value: 8}}
	is = pace.Settings{}
	o.run(&is, "provider", "limit", "fal", "30")
	said, err := o.try("provider", "quotas")
	if s, read := pace.Read(t.Context(), o.db); err != nil || read != nil || s.PerMinute["nova-lite"] != 400 ||
		s.PerMinute["polly-neural"] != 480 ||
		s.PerMinute["fal"] != 30 || !strings.Contains(said, "No quota names nova-micro") {
		t.Errorf("%+v, %v, %v: %s", s, read, err, said)
	}
	for _, args := range [][]string{{"off", "openai"}, {"limit", "fal", "many"}, {"limit", "fal", "-1"}} {
		if out, err := o.try(append([]string{"provider"}, args...)...); err == nil {
			t.Errorf("%v: %s", args, out)
		}
	}
}
