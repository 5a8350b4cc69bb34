package catalog

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
)

// everything is the offer of a stack with all providers.
var everything = NewOffer(strings.Join(Providers(), ","), "us-west-2", nil)

func TestModelsAreChosen(t *testing.T) {
	image := Default(provider.KindImage).ID
	few, frankfurt := NewOffer("bedrock,polly", "us-west-2", nil), NewOffer("bedrock,polly", "eu-central-1", nil)
	for _, c := range []struct {
		name                  string
		offer                 Offer
		kind, asked, fallback string
		live                  bool
		want                  string
		refusal               string
	}{
		{"the default", everything, "image", "", "", true, image, ""},
		{"what was asked for", everything, "image", "nano-banana", "qwen-image", true, "nano-banana", ""},
		{"the fallback", everything, "image", "", "qwen-image", true, "qwen-image", ""},
		{"a preview in the sandbox", Offer{}, "avatar", "heygen-3", "", false, "heygen-3", ""},
		{"a preview for live work", everything, "avatar", "heygen-3", "", true, "",
			"in preview: it works with test keys only. Use heygen-avatar-4, for example."},
		{"a retired one", everything, "text", "claude-sonnet-4.5", "", true, "", "claude-sonnet-5.5"},
		{"a retired one in the sandbox", everything, "text", "claude-sonnet-4.5", "", false, "", "claude-sonnet-5.5"},
		{"a retired fallback", everything, "voice", "", "eleven-turbo-2.5", true, "", "eleven-4-turbo"},
		{"another kind", everything, "image", "veo-3.1", "", true, "", "video"},
		{"an unknown one", everything, "image", strings.Repeat("é", 500), "", true, "", "There is no model"},

		{"the default in the sandbox of few", Offer{}, "image", "", "", false, image, ""},
		{"a model of another provider in the sandbox of few", few, "image", "nano-banana", "", false,
			"nano-banana", ""},
		{"a model of another provider", few, "image", "nano-banana", "", true, "",
			"its provider fal is not set up. Use stable-image-core, for example."},
		{"a fallback of another provider", few, "voice", "", "eleven-3", true, "",
			"elevenlabs is not set up. Use polly-"},
		{"a model of another provider, and no other", few, "video", "veo-3.1", "", true, "",
			"No other model makes video for live keys here"},
		{"a preview of another provider", few, "avatar", "heygen-3", "", true, "", "its provider heygen is not set up"},
		{"a retired one of another provider", NewOffer("fal", "us-west-2", nil), "text", "claude-sonnet-4.5", "", true,
			"", "retired. Use its successor claude-sonnet-5.5"},
		{"the default of another provider", few, "image", "", "", true, "stable-image-core", ""},
		{"a model that the region lacks", frankfurt, "text", "mistral-large-3", "", true, "",
			"because bedrock does not have it in the region eu-central-1. Use nova-lite, for example."},
		{"a fallback that the region lacks", frankfurt, "image", "", "stable-image-core", true, "",
			"in the region eu-central-1. No other model makes image for live keys here"},
		{"an engine that the region lacks", frankfurt, "voice", "polly-long-form", "", true, "",
			"because polly does not have it in the region eu-central-1. Use polly-"},
		{"a model that the region lacks, in the sandbox", frankfurt, "text", "mistral-large-3", "", false,
			"mistral-large-3", ""},
		{"a model of the region's profile", frankfurt, "text", "nova-2-lite", "", true, "nova-2-lite", ""},
		{"another model that the region lacks", frankfurt, "text", "gpt-oss-120b", "", true, "",
			"in the region eu-central-1"},
		{"a default that the region lacks", NewOffer("bedrock", "eu-central-2", nil), "text", "", "", true,
			"nova-2-lite", ""},
		{"no provider at all", few, "music", "", "", true, "", "No provider that makes music is set up here"},
	} {
		got, err := c.offer.Choose(c.kind, c.asked, c.fallback, c.live)
		if c.refusal == "" {
			if err != nil || got != c.want {
				t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
			}
			continue
		}
		var e *errs.Error
		if !errors.As(err, &e) || e.Code != errs.UnsupportedModel || !strings.Contains(e.Message, c.refusal) ||
			len(e.Message) > 300 {
			t.Errorf("%s: %q, %v; want a refusal that says %q", c.name, got, err, c.refusal)
			continue
		}
		if want := map[bool]string{true: "/model", false: ""}[c.asked+c.fallback != ""]; e.Param != want {
			t.Errorf("%s: the refusal blames %q, want %q", c.name, e.Param, want)
		}
	}
}

// For every set of providers and every region, the defaults do live work there, in the shapes that content items
// need.
func TestDefaultsFitWhatIsConfigured(t *testing.T) {
	for _, list := range append(Providers(), "", "bedrock,polly", "fal,heygen", strings.Join(Providers(), ",")) {
		for _, region := range []string{"eu-central-1", "us-east-1", "us-west-2", "sa-east-1"} {
			defaultsFit(t, list+" in "+region, NewOffer(list, region, nil))
		}
	}
	for _, list := range []string{"bedrock,elevenlabs", "bedrock,fal"} {
		o := NewOffer(list, "us-west-2", nil)
		for _, kind := range []provider.Kind{provider.KindText, provider.KindImage, provider.KindVoice} {
			if _, err := o.Default(kind, true); err != nil {
				t.Errorf("%s: %v", list, err)
			}
		}
	}
}

func defaultsFit(t *testing.T, list string, o Offer) {
	t.Helper()
	for _, kind := range provider.Kinds() {
		if m, err := o.Default(kind, false); err != nil || m.ID != Default(kind).ID {
			t.Errorf("%s: %s in the sandbox is made by %s, %v", list, kind, m.ID, err)
		}
		m, err := o.Default(kind, true)
		if err != nil {
			if errs.CodeOf(err) != errs.UnsupportedModel {
				t.Errorf("%s: %s: %v", list, kind, err)
			}
			continue
		}
		if id, err := o.Choose(string(kind), m.ID, "", true); err != nil || id != m.ID || m.Kind != kind {
			t.Errorf("%s: %s is made by %s, which is refused: %v", list, kind, m.ID, err)
		}
		for _, ratio := range shapes[kind] {
			if !slices.Contains(m.Capabilities.AspectRatios, ratio) {
				t.Errorf("%s: %s is made by %s, which makes no %s", list, kind, m.ID, ratio)
			}
		}
	}
}

func TestTheKindsAreNamedInWords(t *testing.T) {
	err := Usable("foo", "flux-pro-1.1", "/models/foo", time.Time{})
	if e := errs.As(err); e.Param != "/models/foo" || !strings.Contains(e.Message, "text, image, video") ||
		strings.Contains(e.Message, "[") {
		t.Errorf("%+v", e)
	}
}

func TestUsableNamesTheMember(t *testing.T) {
	if err := Usable("image", "nano-banana", "/models/image", time.Time{}); err != nil {
		t.Error(err)
	}
	for kind, want := range map[string]errs.Code{"video": errs.UnsupportedModel, "sculpture": errs.ValidationFailed} {
		var e *errs.Error
		if err := Usable(kind, "nano-banana", "/models/"+kind, time.Time{}); !errors.As(err, &e) || e.Code != want ||
			e.Param != "/models/"+kind {
			t.Errorf("%s: %v, want %s", kind, err, want)
		}
	}
}

// A global inference profile may process a call on any continent.
func TestGlobalProfilesAreByOptIn(t *testing.T) {
	const id, region = "claude-haiku-5.5", "sa-east-1"
	for list, want := range map[string]State{"bedrock": Unavailable, "bedrock,bedrock-global": Available} {
		for _, m := range NewOffer(list, region, nil).Models(Filter{Provider: "bedrock"}, true) {
			if m.ID == id && m.State != want {
				t.Errorf("with %s, %s is %s in %s, want %s", list, id, m.State, region, want)
			}
		}
	}
	if _, err := NewOffer("bedrock", region, nil).Choose("text", id, "", true); err == nil {
		t.Errorf("%s is chosen without the opt-in", id)
	}
}

func TestModelsAreUnavailableWhereTheRegionLacksThem(t *testing.T) {
	for _, c := range []struct{ region, lacks, has string }{
		{"eu-central-1", "stable-image-core,mistral-large-3,gpt-oss-120b,polly-long-form",
			"nova-lite,claude-haiku-5.5,deepseek-3.2,polly-neural,polly-generative,flux-pro-1.1"},
		{"us-east-1", "stable-image-ultra", "deepseek-3.2,mistral-large-3,polly-long-form,heygen-avatar-4"},
		{"us-west-2", "polly-long-form", "stable-image-core,mistral-large-3"},
		{"eu-west-2", "nova-lite,gpt-oss-120b", "nova-2-lite,polly-generative"},
	} {
		o := NewOffer(strings.Join(Providers(), ","), c.region, nil)
		states := map[string]State{}
		for _, m := range o.Models(Filter{}, true) {
			states[m.ID] = m.State
		}
		for _, m := range o.Models(Filter{}, false) {
			if m.State == Unavailable {
				t.Errorf("in %s, %s is unavailable to test keys", c.region, m.ID)
			}
		}
		for id := range strings.SplitSeq(c.lacks, ",") {
			if states[id] != Unavailable {
				t.Errorf("in %s, %s is %s", c.region, id, states[id])
			}
		}
		for id := range strings.SplitSeq(c.has, ",") {
			if states[id] != Available {
				t.Errorf("in %s, %s is %s", c.region, id, states[id])
			}
		}
	}
}

// What a call is charged depends on where the stack is: a profile of Bedrock has a price of its own.
func TestPricesFollowTheRegion(t *testing.T) {
	for _, c := range []struct {
		model, region, providers string
		want                     int64 // credits for a million tokens each way
		place                    string
	}{
		{"nova-lite", "us-east-1", "bedrock", 30, ""},
		{"nova-lite", "eu-central-1", "bedrock", 39, "eu"},
		{"nova-lite", "ap-northeast-1", "bedrock", 32, "apac"},
		{"nova-2-lite", "us-west-2", "bedrock", 308, "us"},
		{"nova-2-lite", "eu-west-1", "bedrock", 403, "eu"},
		{"nova-2-lite", "ap-northeast-1", "bedrock", 371, "jp"},
		{"nova-2-lite", "sa-east-1", "bedrock,bedrock-global", 280, ""},
		{"claude-sonnet-5.5", "eu-central-1", "bedrock", 1320, "eu"},
		{"claude-sonnet-5.5", "ap-southeast-2", "bedrock,bedrock-global", 1320, "au"},
		{"claude-sonnet-5.5", "sa-east-1", "bedrock,bedrock-global", 1200, ""},
		{"deepseek-3.2", "eu-north-1", "bedrock", 296, "eu"},
	} {
		o := NewOffer(c.providers, c.region, nil)
		m, ok := o.Find(c.model)
		if got, err := m.Cost(Quantity{InputTokens: 1e6, OutputTokens: 1e6}); !ok || err != nil || got != c.want ||
			m.Place != c.place {
			t.Errorf("%s in %s: %d credits of %q, %v; want %d of %q", c.model, c.region, got, m.Place, err, c.want, c.place)
		}
		again, _ := FindIn(c.model, m.Place)
		if *again.Price != *m.Price {
			t.Errorf("%s in %s: %+v by its place, want %+v", c.model, c.region, again.Price, m.Price)
		}
		for _, listed := range o.Models(Filter{Kind: "text"}, true) {
			if listed.ID == c.model && *listed.Price != *m.Price {
				t.Errorf("%s in %s is listed at %+v", c.model, c.region, listed.Price)
			}
		}
	}
	usual, err := NewOffer("bedrock", "eu-central-1", nil).Default("text", true)
	if err != nil || usual.Place != "eu" {
		t.Errorf("the default in the EU has the price of %q, %v", usual.Place, err)
	}
}

// Another model takes the place of a text model that AWS refuses: the next writer of its quality first.
func TestStandInsAreTheNextWriters(t *testing.T) {
	for _, c := range []struct{ model, region, want string }{
		{"anthropic.claude-sonnet-5-5", "us-west-2", "mistral-large-3 deepseek-3.2 claude-haiku-5.5 nova-2-lite nova-lite"},
		{"anthropic.claude-sonnet-5-5", "eu-central-1", "deepseek-3.2 claude-haiku-5.5 nova-2-lite nova-lite"},
		{"anthropic.claude-haiku-5-5", "eu-central-1", "nova-2-lite nova-lite"},
		{"amazon.nova-pro-v1:0", "us-east-1", "gpt-oss-120b mistral-large-3 claude-haiku-5.5 nova-2-lite nova-lite"},
		{"amazon.nova-lite-v1:0", "us-east-1", "claude-haiku-5.5 mistral-large-3 nova-2-lite"},
		{"stability.stable-image-core-v1:1", "us-west-2", ""}, {"arn:aws:bedrock:us-east-1:1:custom-model/x", "us-east-1", ""},
	} {
		var ids []string
		for _, s := range NewOffer("bedrock,fal", c.region, nil).StandIns(c.model) {
			ids = append(ids, s.ID)
			if m, ok := Find(s.ID); !ok || s.Model != m.ProviderModel {
				t.Errorf("%+v is not %+v", s, m)
			}
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("in %s, %s take the place of %s, want %s", c.region, got, c.model, c.want)
		}
	}
	if next := NewOffer("fal", "us-west-2", nil).StandIns("amazon.nova-lite-v1:0"); len(next) > 0 {
		t.Errorf("%+v take its place without their provider", next)
	}
}

func TestDifferencesFromBedrock(t *testing.T) {
	now := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	o := NewOffer("bedrock,fal", "eu-central-1", func() time.Time { return now })
	lives := map[string]provider.Life{}
	for _, m := range Models(Filter{Provider: "bedrock"}) {
		lives[m.ProviderModel] = provider.Life{}
	}
	if all := o.Compare(lives); len(all) > 0 {
		t.Errorf("without a difference: %+v", all)
	}
	lives["anthropic.claude-sonnet-5-5"] = provider.Life{Legacy: true, End: now.Add(200 * 24 * time.Hour)}
	lives["amazon.nova-pro-v1:0"] = provider.Life{End: now.Add(44 * 24 * time.Hour)}
	lives["amazon.nova-2-lite-v1:0"] = provider.Life{End: now.Add(90 * 24 * time.Hour)}
	delete(lives, "deepseek.v3.2")
	delete(lives, "openai.gpt-oss-120b-1:0") // which the region lacks
	var said []string
	for _, d := range o.Compare(lives) {
		said = append(said, d.Text)
		if d.Ends != (d.Model != "nova-2-lite") {
			t.Errorf("%+v", d)
		}
	}
	want := []string{"nova-pro ends on 2027-01-12 (the catalog has no end)",
		"nova-2-lite ends on 2027-02-27 (the catalog has no end)",
		"claude-sonnet-5.5 is Legacy, and AWS refuses it to new accounts: deepseek-3.2 writes in its place",
		"deepseek-3.2 is not in eu-central-1: claude-haiku-5.5 writes in its place"}
	if !slices.Equal(said, want) {
		t.Errorf("it says %q", said)
	}
	soon := NewOffer("fal", "eu-central-1", func() time.Time { return time.Date(2027, 1, 20, 0, 0, 0, 0, time.UTC) })
	if all := soon.EndingSoon(); len(all) != 1 || all[0].Text != "nano-banana ends on 2027-03-15" {
		t.Errorf("soon ends %+v", all)
	}
}
