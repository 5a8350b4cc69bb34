package catalog

import (
	"math/big"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/sandbox"
)

func TestModelsAreManyAndOfEveryKind(t *testing.T) {
	working, all := 0, Models(Filter{})
	for _, m := range all {
		if m.State == Available {
			working++
		}
	}
	if working <= 40 || len(all) > 63 {
		t.Errorf("%d of %d models work, want more than 40 of about 60", working, len(all))
	}
	for _, kind := range provider.Kinds() {
		usable := 0
		for _, m := range Models(Filter{Kind: kind}) {
			if m.State == Available {
				usable++
			}
		}
		if usable < 2 {
			t.Errorf("%d models make %s, want a choice", usable, kind)
		}
	}
}

var slug = regexp.MustCompile(`^[a-z0-9]+([.-][a-z0-9]+)*$`)

func TestEveryModelIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range Models(Filter{}) {
		t.Run(m.ID, func(t *testing.T) {
			if !slug.MatchString(m.ID) || len(m.ID) > 64 || seen[m.ID] {
				t.Errorf("the id is no slug, or not unique")
			}
			seen[m.ID] = true
			if m.Name == "" || m.Provider == "" || m.ProviderModel == "" {
				t.Errorf("name, provider or the provider's id is missing: %+v", m)
			}
			if !slices.Contains(provider.Kinds(), m.Kind) {
				t.Errorf("%q is no kind", m.Kind)
			}
			if m.Price == nil {
				t.Error("it has no price")
			}
			if u, err := url.Parse(m.Source); err != nil || u.Scheme != "https" || u.Host == "" {
				t.Errorf("the source %q is no address: %v", m.Source, err)
			}
			checkState(t, m)
			checkCapabilities(t, m)
		})
	}
}

var region = regexp.MustCompile(`^[a-z]{2}-[a-z]+-\d$`)

// Models of AWS are not in all regions: each lists its regions and the source.
func TestModelsOfAWSHaveRegions(t *testing.T) {
	for _, r := range models().Models {
		aws := r.Provider == "bedrock" || r.Provider == "polly"
		switch {
		case r.State == Retired:
		case aws && len(r.Regions) == 0 && r.Model.ProviderOptions["profiles"] == "":
			t.Errorf("%s has neither regions nor profiles", r.ID)
		case !aws && (len(r.Regions) > 0 || !r.In("eu-central-1", false)):
			t.Errorf("%s of %s depends on regions of AWS", r.ID, r.Provider)
		case len(r.Regions) > 0 != strings.HasPrefix(r.RegionsSource, "https://docs.aws.amazon.com/"):
			t.Errorf("the regions of %s are published at %q", r.ID, r.RegionsSource)
		}
		for _, name := range r.Regions {
			if !region.MatchString(name) {
				t.Errorf("%s: %q is no region", r.ID, name)
			}
		}
		if !slices.IsSorted(r.Regions) || r.Regions == nil {
			t.Errorf("%s: the regions %v are not sorted, or null", r.ID, r.Regions)
		}
	}
}

// TestNoModelIsOfferedAfterItsEnd fails from the day on which a provider ends a model: retire it in the table too, so
// that the defaults and the documents follow.
func TestNoModelIsOfferedAfterItsEnd(t *testing.T) {
	for _, m := range Models(Filter{}) {
		if m.Ended(time.Now()) && m.State != Retired {
			t.Errorf("%s has ended at %s, and is %s", m.ID, m.RetiresAt, m.State)
		}
		if m.RetiresAt != nil && m.Successor == nil {
			t.Errorf("%s ends at %s and has no successor", m.ID, m.RetiresAt)
		}
	}
}

// The best quality is not begun with a model that a new AWS account is refused soon.
func TestWritersLast(t *testing.T) {
	for quality, writers := range models().Writers {
		n := slices.IndexFunc(models().Models, func(r row) bool { return r.ID == writers[0] })
		m := models().Models[n]
		if m.State != Available || m.RetiresAt != nil && m.RetiresAt.Sub(m.ReadOn.at.Time) < 365*24*time.Hour {
			t.Errorf("%s begins with %s, which ends at %v", quality, writers[0], m.RetiresAt)
		}
		if len(writers) < 2 {
			t.Errorf("%s has no writer that could stand in", quality)
		}
	}
	for _, list := range [][]string{models().Writers["standard"], models().Writers["best"],
		models().Editors["standard"], models().Editors["best"], models().Judges} {
		for _, id := range list {
			if m, ok := Find(id); !ok || m.Kind != provider.KindText || m.State != Available {
				t.Errorf("%s writes, and is no text model that works", id)
			}
		}
	}
}

func TestEachRowHasItsDay(t *testing.T) {
	for _, r := range models().Models {
		if r.ReadOn.at == nil || r.ReadOn.at.After(time.Now()) {
			t.Errorf("%s was read on %v", r.ID, r.ReadOn.at)
		}
	}
}

func checkState(t *testing.T, m Model) {
	switch m.State {
	case Available:
		if m.Price == nil {
			t.Error("available without a price")
		}
	case Preview:
	case Retired:
		if m.Successor == nil {
			t.Fatal("retired without a successor")
		}
	default:
		t.Errorf("%q is no state", m.State)
	}
	if m.Successor == nil {
		return
	}
	next, ok := Find(*m.Successor)
	if !ok || next.State != Available || next.Kind != m.Kind {
		t.Errorf("the successor %q is none: %+v", *m.Successor, next)
	}
	if m.State != Retired && m.DeprecatedAt == nil {
		t.Errorf("has the successor %s and is not deprecated", *m.Successor)
	}
}

func checkCapabilities(t *testing.T, m Model) {
	c := m.Capabilities
	if len(c.Seconds) > 0 && (!slices.IsSorted(c.Seconds) || c.MaxSeconds != slices.Max(c.Seconds)) {
		t.Errorf("seconds %v up to %d", c.Seconds, c.MaxSeconds)
	}
	if slices.Contains(c.Requires, InputImage) && !c.FromImage || slices.Contains(c.Requires, InputAudio) &&
		m.Kind == provider.KindAvatar && !c.FromAudio {
		t.Errorf("requires %v, and does not take it", c.Requires)
	}
	for _, input := range c.Requires {
		if !slices.Contains([]Input{InputImage, InputAudio, InputVideo, InputLyrics, InputDialogue}, input) {
			t.Errorf("requires %q, which is no input", input)
		}
	}
	if m.State == Available && m.Kind == provider.KindImage && len(c.AspectRatios) == 0 {
		t.Error("an image model without aspect ratios")
	}
	// A test key rehearses with the sandbox whatever a live key can do.
	can := sandbox.New(nil).Capabilities().Kinds[m.Kind]
	for _, ratio := range c.AspectRatios {
		if !slices.Contains(can.AspectRatios, ratio) {
			t.Errorf("the sandbox makes no %s of %s", m.Kind, ratio)
		}
	}
	if can.MaxSeconds > 0 && c.MaxSeconds > can.MaxSeconds {
		t.Errorf("the sandbox makes no %s of %d s", m.Kind, c.MaxSeconds)
	}
}

// A credit is a cent of the provider's charge: the prices must be exactly that, without rounding, wherever it is.
func TestPricesFollowFromCosts(t *testing.T) {
	units := map[provider.Kind][]Unit{
		provider.KindText: {PerTokens}, provider.KindImage: {PerImage}, provider.KindVideo: {PerSecond},
		provider.KindMusic: {PerTrack, PerSecond}, provider.KindVoice: {PerCharacters},
		provider.KindAvatar: {PerSecond},
	}
	for _, r := range models().Models {
		if !slices.Contains(units[r.Kind], r.Cost.Unit) || r.Cost.Megapixels > 0 && r.Cost.Unit != PerImage ||
			(r.Kind == provider.KindText) != (r.Cost.USDInput != "") {
			t.Errorf("%s: %+v does not fit %s", r.ID, r.Cost, r.Kind)
		}
		exact(t, r, r.Price, r.Cost.rate)
		for names, of := range r.Cost.Places {
			for name := range strings.SplitSeq(names, ",") {
				exact(t, r, r.in(name).Price, of)
				if !strings.Contains(r.Model.ProviderOptions["profiles"], name) && !slices.Contains(r.Regions, name) {
					t.Errorf("%s has a price in %s, where it is not", r.ID, name)
				}
			}
		}
	}
}

// exact checks that a price is a credit for each cent of a rate.
func exact(t *testing.T, r row, p *Price, of rate) {
	t.Helper()
	check := func(credits int64, usd string) {
		charged, ok := new(big.Rat).SetString(usd)
		if !ok {
			t.Errorf("%s: %q is no amount", r.ID, usd)
			return
		}
		cents := charged.Mul(charged, big.NewRat(100, max(r.Cost.Per, 1)))
		if got := big.NewRat(credits, p.Per); got.Cmp(cents) != 0 {
			t.Errorf("%s: %v credits a unit for %v cents", r.ID, got, cents)
		}
	}
	check(p.Credits, of.USD)
	if of.USDInput != "" {
		check(p.InputCredits, of.USDInput)
	}
	if (of.Above == nil) != (p.LongPrompt == nil) {
		t.Errorf("%s: long prompts %+v, charged %+v", r.ID, p.LongPrompt, of.Above)
	} else if of.Above != nil {
		check(p.LongPrompt.Credits, of.Above.USD)
		check(p.LongPrompt.InputCredits, of.Above.USDInput)
	}
}

func TestDefaultsCanBeUsedForLiveWork(t *testing.T) {
	for _, kind := range provider.Kinds() {
		m := Default(kind)
		if m.Kind != kind || m.State != Available || m.Price == nil {
			t.Errorf("%s: %+v", kind, m)
		}
		for _, input := range m.Capabilities.Requires {
			if kind != provider.KindAvatar { // an avatar has to look like somebody
				t.Errorf("%s: the default needs %s", kind, input)
			}
		}
	}
	// The shapes of posts, slides and covers, stories, and short and long videos.
	for kind, ratios := range map[provider.Kind][]string{
		provider.KindImage: {"4:5", "1:1", "9:16"}, provider.KindVideo: {"9:16", "16:9"},
	} {
		for _, ratio := range ratios {
			if !slices.Contains(Default(kind).Capabilities.AspectRatios, ratio) {
				t.Errorf("the default %s model makes no %s", kind, ratio)
			}
		}
	}
	if n := len(models().Defaults); n != len(provider.Kinds()) {
		t.Errorf("%d defaults, want one for each kind", n)
	}
}

func TestAvatarsFitTheirModels(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range Avatars("") {
		if seen[a.ID] || a.Name == "" || len(a.Models) == 0 || a.Languages == nil || a.Default == nil {
			t.Errorf("%+v", a)
		}
		seen[a.ID] = true
		for _, id := range append(a.Models, a.Default...) {
			if m, ok := Find(id); !ok || m.Provider != a.Provider || m.Kind != provider.KindAvatar {
				t.Errorf("%s is not an avatar of %s", a.ID, id)
			}
		}
	}
	for _, m := range Models(Filter{Kind: provider.KindAvatar}) {
		if fixed := m.ProviderOptions["avatar"]; fixed != "" && m.DefaultAvatar() != fixed {
			t.Errorf("%s uses %s, the list says %q", m.ID, fixed, m.DefaultAvatar())
		}
	}
}

func TestTheModelOfARequestFitsItsInputs(t *testing.T) {
	o := NewOffer("fal", "eu-central-1", nil)
	for name, c := range map[string]struct {
		req  provider.Request
		want string
	}{
		"a picture speaks": {provider.Request{Kind: provider.KindAvatar, Prompt: "Hi", ImageURL: "https://x"},
			"heygen-avatar-4"},
		"a text alone":      {provider.Request{Kind: provider.KindAvatar, Prompt: "Hi"}, "veed-avatars"},
		"a video of a text": {provider.Request{Kind: provider.KindVideo, Prompt: "Hi"}, "kling-3-turbo-pro"},
		"a recording alone: none": {provider.Request{Kind: provider.KindAvatar, AudioURL: "https://x"},
			"heygen-avatar-4"},
	} {
		for _, live := range []bool{true, false} {
			if got, err := o.ChooseFor(c.req, "", live); err != nil || got != c.want {
				t.Errorf("%s, live %v: %s, %v; want %s", name, live, got, err, c.want)
			}
		}
	}
	if got, err := o.ChooseFor(provider.Request{Kind: provider.KindAvatar}, "heygen-avatar-4",
		true); got != "heygen-avatar-4" || err != nil {
		t.Errorf("a model that is named is not used: %s, %v", got, err)
	}
}

func TestTheTableIsReadStrictly(t *testing.T) {
	for name, raw := range map[string]string{
		"a member misspelt": strings.Replace(string(modelsJSON), `"provider_model"`, `"provider_modle"`, 1),
		"no JSON":           "models:",
		"no amount":         strings.Replace(string(modelsJSON), `"usd": "0.14"`, `"usd": "free"`, 1),
	} {
		if _, err := parse([]byte(raw)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := parse(modelsJSON); err != nil {
			b.Fatal(err)
		}
	}
}

// A credit is a cent of the provider's charge for training, too.
func TestTrainingsFollowFromCosts(t *testing.T) {
	trainable := 0
	for _, r := range models().Models {
		if r.Training == nil {
			continue
		}
		trainable++
		usd, ok := new(big.Rat).SetString(r.Training.USD) // for 1,000 tokens
		if !ok || r.Training.Per < 1 || r.Training.Epochs < 1 {
			t.Errorf("%s: %+v", r.ID, r.Training)
			continue
		}
		if got, want := big.NewRat(r.Training.Credits, r.Training.Per),
			usd.Mul(usd, big.NewRat(100, 1000)); got.Cmp(want) != 0 {
			t.Errorf("%s: %v credits a token, want %v", r.ID, got, want)
		}
		if r.Kind != provider.KindText || r.Price == nil || r.Model.Training.ProviderModel == "" ||
			r.Model.Training.Parameters["epochCount"] != strconv.FormatInt(r.Training.Epochs, 10) {
			t.Errorf("%s: %+v", r.ID, r.Model.Training)
		}
		for _, name := range r.Training.Regions {
			if !slices.Contains(r.Regions, name) || !strings.HasPrefix(r.Training.RegionsSource,
				"https://docs.aws.amazon.com/") {
				t.Errorf("%s is trained in %s, where it is not, or without a source", r.ID, name)
			}
		}
	}
	if trainable < 2 {
		t.Errorf("%d models can be trained", trainable)
	}
}
