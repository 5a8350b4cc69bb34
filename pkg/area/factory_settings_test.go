package area_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/base/errs"
)

// sufficient are settings of each type that have all members it cannot do without.
var sufficient = map[string]string{
	"blogger": `{}`, "seller": `{"currency":"EUR"}`, "expert": `{"field":"Tax law"}`, "brand": `{"brand_name":"Acme"}`,
	"news": `{}`, "entertainment": `{}`, "musician": `{"artist_name":"The Examples","genres":["indie pop"]}`,
}

func TestThereAreSevenTypes(t *testing.T) {
	w := newFactoryWorld(t)
	if len(sufficient) != 7 {
		t.Fatal("the tests know another number of types")
	}
	for kind, settings := range sufficient {
		var f factory.Factory
		w.Call(http.MethodPost, "/v1/factories", fmt.Sprintf(`{"type":%q,"name":"x","settings":%s}`, kind,
			settings)).Into(t, http.StatusCreated, &f)
		if string(f.Type) != kind || len(f.ContentTypes) == 0 {
			t.Errorf("%+v", f)
		}
	}
	for _, kind := range []string{"", "shop", "Blogger", "blogger "} {
		w.Call(http.MethodPost, "/v1/factories", fmt.Sprintf(`{"type":%q,"name":"x"}`, kind)).Refused(t, 422,
			errs.ValidationFailed, "/type")
	}
	w.Call(http.MethodPost, "/v1/factories", `{"name":"x"}`).Refused(t, 422, errs.ValidationFailed, "/type")
}

func TestSettingsOfEachType(t *testing.T) {
	long := func(n int) string { return strings.Repeat("ü", n) }
	lines := func(n int) string {
		return `["` + strings.TrimSuffix(strings.Repeat(`line","`, n), `","`) + `"]`
	}
	w := newFactoryWorld(t)
	for _, c := range []struct {
		kind, settings string
		want           string // the settings as they are kept; the same where empty
		param          string // of the refusal
	}{
		{"blogger", `{"persona":"A runner","style":"tech","first_person":false}`, "", ""},
		{"blogger", `{"first_person":null}`, `{}`, ""},
		{"blogger", `{"persona":"` + long(500) + `"}`, "", ""},
		{"blogger", `{"persona":"` + long(501) + `"}`, "", "/settings/persona"},
		{"blogger", `{"style":"other"}`, "", "/settings/style"},
		{"blogger", `{"first_person":"yes"}`, "", "/settings/first_person"},
		{"blogger", `{"First_person":true}`, "", "/settings/First_person"},
		{"blogger", `{"brand_name":"Acme"}`, "", "/settings/brand_name"},

		{"seller", `{"shop_name":"Acme","currency":"EUR","call_to_action":"Order today","show_prices":true}`, "", ""},
		{"seller", `{}`, "", "/settings/currency"},
		{"seller", `{"currency":"euro"}`, "", "/settings/currency"},
		{"seller", `{"currency":"eur"}`, "", "/settings/currency"},
		{"seller", `{"currency":"EUR\n"}`, "", "/settings/currency"},
		{"seller", `{"currency":null}`, "", "/settings/currency"},
		{"seller", `{"currency":"EUR","shop_name":"a\u0007"}`, "", "/settings/shop_name"},
		{"seller", `{"currency":"EUR","call_to_action":"` + long(101) + `"}`, "", "/settings/call_to_action"},

		{"expert", `{"field":"Tax law","credentials":["Lawyer since 1999"],"depth":"advanced","sources":[{"url":"https://example.com/a","kind":"page"}],"cite_sources":true}`, "", ""},
		{"expert", `{"field":"Tax law","cite_sources":true}`, "", "/settings/cite_sources"},
		{"expert", `{"field":"Tax law","cite_sources":false}`, "", ""},
		{"expert", `{"field":"Tax law","credentials":null}`, `{"field":"Tax law"}`, ""},
		{"expert", `{}`, "", "/settings/field"},
		{"expert", `{"field":""}`, "", "/settings/field"},
		{"expert", `{"field":"Tax law","depth":"deep"}`, "", "/settings/depth"},
		{"expert", `{"field":"Tax law","credentials":` + lines(10) + `}`, "", ""},
		{"expert", `{"field":"Tax law","credentials":` + lines(11) + `}`, "", "/settings/credentials"},
		{"expert", `{"field":"Tax law","credentials":["ok",""]}`, "", "/settings/credentials/1"},
		{"expert", `{"field":"Tax law","credentials":["a\u0000"]}`, "", "/settings/credentials/0"},

		{"brand", `{"brand_name":"Acme","slogan":"Run.","voice_rules":["Be kind."],"forbidden_words":["cheap"],` +
			`"colors":["#ff6600","#000000"]}`, "", ""},
		{"brand", `{"brand_name":"Acme","slogan":"a\nb"}`, "", "/settings/slogan"},
		{"brand", `{"slogan":"Run."}`, "", "/settings/brand_name"},
		{"brand", `{"brand_name":7}`, "", "/settings/brand_name"},
		{"brand", `{"brand_name":"Acme","colors":["#ff6600","orange"]}`, "", "/settings/colors/1"},
		{"brand", `{"brand_name":"Acme","colors":["#ff66001"]}`, "", "/settings/colors/0"},
		{"brand", `{"brand_name":"Acme","colors":"#ff6600"}`, "", "/settings/colors"},
		{"brand", `{"brand_name":"Acme","voice_rules":["` + long(201) + `"]}`, "", "/settings/voice_rules/0"},
		{"brand", `{"brand_name":"Acme","forbidden_words":["a\nb"]}`, "", "/settings/forbidden_words/0"},

		{"news", `{"region":"DE","sources":[{"url":"https://example.com/feed","kind":"feed"},"Reuters"],"max_age_hours":24,"fact_check":true}`, "", ""},
		{"news", `{"sources":["Reuters"],"fact_check":true}`, "", "/settings/fact_check"},
		{"news", `{"fact_check":true}`, "", "/settings/fact_check"},
		{"news", `{"sources":[{"url":"http://example.com/feed","kind":"feed"}]}`, "", "/settings/sources/0/url"},
		{"news", `{"sources":[{"url":"https://a:b@example.com","kind":"feed"}]}`, "", "/settings/sources/0/url"},
		{"news", `{"sources":["A",{"url":"https://a.example","kind":"feed"},{"url":"https://a.example","kind":"page"}]}`,
			"", "/settings/sources/2/url"},
		{"news", `{"sources":[{"url":"https://a.example","kind":"film"}]}`, "", "/settings/sources/0"},
		{"news", `{"sources":[{"url":"https://a.example"}]}`, "", "/settings/sources/0"},
		{"news", `{"region":"Germany"}`, "", "/settings/region"},
		{"news", `{"region":"UK"}`, "", "/settings/region"},
		{"news", `{"max_age_hours":0}`, "", "/settings/max_age_hours"},
		{"news", `{"max_age_hours":169}`, "", "/settings/max_age_hours"},
		{"news", `{"max_age_hours":1.5}`, "", "/settings/max_age_hours"},
		{"news", `{"sources":` + lines(21) + `}`, "", "/settings/sources"},
		{"news", `{"sources":[""]}`, "", "/settings/sources/0"},

		// The brand and the voice are settings of every type.
		{"blogger", `{"voice":{"samples":["` + long(30) + `","` + long(31) + `"]}}`, "", "/settings/voice/samples"},
		{"news", `{"voice":{"samples":["short","` + long(30) + `","` + long(31) + `"]}}`, "",
			"/settings/voice/samples/0"},
		{"expert", `{"field":"x","voice":{"emoji":"all"}}`, "", "/settings/voice/emoji"},
		{"musician", `{"artist_name":"x","genres":["a"],"voice":{"address":""}}`, "", "/settings/voice/address"},
		{"seller", `{"currency":"EUR","voice":{"we_say":["Game Changer"],"we_never_say":["game changer"]}}`, "",
			"/settings/voice/we_say/0"},
		{"brand", `{"brand_name":"x","forbidden_words":["cheap"],"voice":{"we_say":["cheap"]}}`, "",
			"/settings/voice/we_say/0"},
		{"entertainment", `{"voice":{"tone":"warm"}}`, "", "/settings/voice/tone"},
		{"news", `{"logo":"x"}`, "", "/settings/logo"},
		{"blogger", `{"voice":{"address":"du","emoji":"few","we_say":["hand on heart"],"we_never_say":["hack"],` +
			`"competitors":["Example Shoes"]},"voice_rules":["Be kind."],"forbidden_words":["cheap"],` +
			`"colors":["#ff6600"],"caption_style":"outline","font":"lora"}`, "", ""},
		{"expert", `{"field":"Tax law","forbidden_words":["guaranteed"],"logo_place":"top_right"}`, "", ""},
		{"news", `{"region":"DE","voice_rules":["Name who says it."],"colors":["#000000"]}`, "", ""},
		{"entertainment", `{"humor":"dry","forbidden_words":["x"],"post_headlines":true}`, "", ""},
		{"musician", `{"artist_name":"x","genres":["a"],"voice":{"emoji":"none"},"font":"oswald"}`, "", ""},

		{"entertainment", `{"humor":"dry","formats":["Quiz"],"age_rating":"12"}`, "", ""},
		{"entertainment", `{"humor":"loud"}`, "", "/settings/humor"},
		{"entertainment", `{"age_rating":12}`, "", "/settings/age_rating"},
		{"entertainment", `{"formats":["Quiz\t"]}`, "", "/settings/formats/0"},

		{"musician", `{"artist_name":"The Examples","genres":["indie pop"],"mood":"warm","instrumental":true}`, "", ""},
		{"musician", `{"artist_name":"The Examples","genres":["indie pop"],"lyrics_language":"de-DE"}`, "",
			"/settings/lyrics_language"},
		{"musician", `{"artist_name":"The Examples","genres":["indie pop"],"instrumental":false}`, "",
			"/settings/instrumental"},
		{"musician", `{"artist_name":"The Examples","genres":["indie pop"],"lyrics_language":"german"}`, "",
			"/settings/lyrics_language"},
		{"musician", `{"artist_name":"The Examples"}`, "", "/settings/genres"},
		{"musician", `{"artist_name":"The Examples","genres":[]}`, "", "/settings/genres"},
		{"musician", `{"artist_name":"The Examples","genres":null}`, "", "/settings/genres"},
		{"musician", `{"artist_name":"The Examples","genres":["a","b","c","d","e","f"]}`, "", "/settings/genres"},
		{"musician", `{"artist_name":"The Examples","genres":[""]}`, "", "/settings/genres/0"},
		{"musician", `{"artist_name":"` + long(101) + `","genres":["a"]}`, "", "/settings/artist_name"},
	} {
		before := storetest.Snapshot(t, w.DB)
		a := w.Call(http.MethodPost, "/v1/factories", fmt.Sprintf(`{"type":%q,"name":"x","settings":%s}`,
			c.kind, c.settings))
		if c.param != "" {
			t.Run(c.kind+" "+c.settings, func(t *testing.T) { a.Refused(t, 422, errs.ValidationFailed, c.param) })
			if storetest.Snapshot(t, w.DB) != before {
				t.Errorf("%s %s has made something", c.kind, c.settings)
			}
			continue
		}
		var f struct {
			ID       string
			Settings json.RawMessage
		}
		a.Into(t, http.StatusCreated, &f)
		want := c.want
		if want == "" {
			want = c.settings
		}
		if string(f.Settings) != want {
			t.Errorf("%s: kept as %s, want %s", c.kind, f.Settings, want)
		}
		if got := w.get(f.ID); string(got.Settings) != want {
			t.Errorf("%s: read as %s", c.kind, got.Settings)
		}
	}
}

func TestSettingsThatAreNoObject(t *testing.T) {
	w := newFactoryWorld(t)
	for _, settings := range []string{`null`, `[]`, `"x"`, `7`} {
		w.Call(http.MethodPost, "/v1/factories", `{"type":"blogger","name":"x","settings":`+settings+`}`).Refused(t,
			422, errs.ValidationFailed, "/settings")
	}
	// Left out they are empty, which does for some types.
	for kind, param := range map[string]string{"blogger": "", "news": "", "brand": "/settings/brand_name",
		"seller": "/settings/currency"} {
		a := w.Call(http.MethodPost, "/v1/factories", object{"type": kind, "name": "x"})
		if param != "" {
			a.Refused(t, 422, errs.ValidationFailed, param)
			continue
		}
		var f factory.Factory
		a.Into(t, http.StatusCreated, &f)
		if !strings.Contains(a.Raw, `"settings":{}`) {
			t.Errorf("%s", a.Raw)
		}
	}
}

func TestAllFaultsOfTheSettingsAreTold(t *testing.T) {
	w := newFactoryWorld(t)
	a := w.Call(http.MethodPost, "/v1/factories",
		`{"type":"brand","name":"x","settings":{"colors":["red","#000000","blue"]}}`)
	a.Refused(t, 422, errs.ValidationFailed, a.Error.Param)
	var params []string
	for _, d := range a.Error.Details {
		params = append(params, d.Param)
		if d.Message == "" {
			t.Errorf("%s has no message", d.Param)
		}
	}
	if got := strings.Join(params, " "); len(params) != 3 || !strings.Contains(got, "/settings/brand_name") ||
		!strings.Contains(got, "/settings/colors/0") || !strings.Contains(got, "/settings/colors/2") {
		t.Errorf("told of %s", got)
	}
}
