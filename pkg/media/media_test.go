package media_test

import (
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/media"
)

var place = media.Place{Owner: tenant.Of("acc_01h455vb4pex5vsknk084sn02q", tenant.Test),
	Resource: "cnt_01h455vb4pex5vsknk084sn02r", Attempt: 2}

func TestKeysAndIDsFollowFromThePlace(t *testing.T) {
	if got, want := place.Key(3, "png"),
		"media/acc_01h455vb4pex5vsknk084sn02q/test/cnt_01h455vb4pex5vsknk084sn02r/2/3.png"; got != want {
		t.Errorf("key %s, want %s", got, want)
	}
	if got, want := place.ID(3), "cnt_01h455vb4pex5vsknk084sn02r_2_3"; got != want {
		t.Errorf("id %s, want %s", got, want)
	}
	if !strings.HasPrefix(place.Key(3, "png"), place.Prefix()) {
		t.Errorf("key %s does not begin with %s", place.Key(3, "png"), place.Prefix())
	}
	next := place
	next.Attempt++
	if place.ID(1) == next.ID(1) || place.Key(1, "png") == next.Key(1, "png") {
		t.Error("two attempts share a file")
	}
}

func TestPlacesThatMakeNoKeyAreRefused(t *testing.T) {
	if err := place.Validate(); err != nil {
		t.Errorf("a good place: %v", err)
	}
	for name, spoil := range map[string]func(*media.Place){
		"no account":       func(p *media.Place) { p.Account = "" },
		"no mode":          func(p *media.Place) { p.Mode = "" },
		"a slash":          func(p *media.Place) { p.Resource = "cnt/1" },
		"a parent":         func(p *media.Place) { p.Resource = ".." },
		"the attempt zero": func(p *media.Place) { p.Attempt = 0 },
	} {
		p := place
		spoil(&p)
		if err := p.Validate(); err == nil {
			t.Errorf("%s: accepted %+v", name, p)
		}
	}
}
