package area_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/store"
)

// A patch that is applied without a call is accepted and refused as by updateFactory.
func TestPatchesAreAppliedAsUpdateFactoryDoes(t *testing.T) {
	for _, patch := range []string{
		`{"tone":"dry"}`, `{"topics":["a","b"],"audience":null}`, `{"content_types":["post"]}`,
		`{"settings":{"slogan":"Run."}}`, `{"settings":{"slogan":null}}`,
		`{"language":"DE_de"}`, `{"metadata":{"team":null}}`, `{"models":{"image":"nano-banana"}}`,
		`{"state":"paused"}`, `{}`, `{"description":""}`,
		`{"colour":"red"}`, `{"id":"fac_1"}`, `{"name":null}`, `{"name":""}`, `{"topics":"a"}`, `{"topics":[""]}`,
		`{"settings":{"brand_name":null}}`, `{"settings":{"shop":"x"}}`,
		`{"language":"german"}`, `{"models":{"image":"paintbrush-1"}}`, `{"content_types":["painting"]}`,
		`{"schedule":{"timezone":"Mars/Base","times":[]}}`, `{"version":7}`,
		`{"tone":7,"audience":"` + strings.Repeat("a", 501) + `"}`,
	} {
		w := newFactoryWorld(t)
		made := w.create("type", "brand", "settings", object{"brand_name": "Acme", "slogan": "Walk."}, "audience",
			"Walkers", "metadata", object{"team": "sales"})
		it, err := w.DB.Get(t.Context(), store.IDKey(made.ID))
		if err != nil {
			t.Fatal(err)
		}
		f, err := factory.Decode(&it)
		if err != nil {
			t.Fatal(err)
		}
		before := f
		var tree map[string]any
		if err := json.Unmarshal([]byte(patch), &tree); err != nil {
			t.Fatal(err)
		}
		changed, err := f.Change(tree, time.Time{})
		a := w.Call(http.MethodPatch, "/v1/factories/"+made.ID, patch)
		if err != nil {
			e := errs.As(err)
			if a.Error == nil || a.Error.Code != string(e.Code) || a.Error.Param != e.Param ||
				len(a.Error.Details) != len(e.Details) {
				t.Errorf("%s: refused with %v, and the operation answers %s", patch, err, a.Raw)
			}
			if !reflect.DeepEqual(f, before) {
				t.Errorf("%s: refused, and changed to %+v", patch, f)
			}
			continue
		}
		var updated factory.Factory
		a.Into(t, http.StatusOK, &updated)
		f.Touch(w.Now())
		if !reflect.DeepEqual(f, updated) {
			t.Errorf("%s: got %+v, and the operation %+v", patch, f, updated)
		}
		if same := patch == `{}` || patch == `{"description":""}`; changed == same {
			t.Errorf("%s changes something: %v", patch, changed)
		}
	}
}

// The schema of patches names the members that were asked for, and the settings of the
// type.
func TestSchemaOfPatches(t *testing.T) {
	for of, setting := range map[factory.Type]string{factory.Brand: "voice_rules", factory.Seller: "shop_name",
		factory.News: "region"} {
		raw, err := factory.PatchSchema(of, "tone", "settings")
		if err != nil {
			t.Fatal(err)
		}
		var schema struct {
			AdditionalProperties bool
			Properties           struct {
				Tone     *struct{ MaxLength int }
				Settings struct{ Properties map[string]any }
				Name     any
			}
		}
		if err := json.Unmarshal(raw, &schema); err != nil || schema.AdditionalProperties ||
			schema.Properties.Tone == nil || schema.Properties.Tone.MaxLength != 200 ||
			schema.Properties.Name != nil || schema.Properties.Settings.Properties[setting] == nil ||
			strings.Contains(string(raw), "$ref") {
			t.Errorf("%s: %v: %s", of, err, raw)
		}
	}
}
