package content_test

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/bedrock"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/generate/catalog"
	fake "github.com/content-automation/api/testdata/providers/bedrock"
	"github.com/content-automation/api/testdata/providers/control"
)

// byKind is a provider that has another one write texts.
type byKind struct {
	provider.Provider
	texts provider.Provider
}

func (p byKind) Submit(ctx context.Context, req provider.Request) (provider.Submission, error) {
	if req.Kind == provider.KindText {
		return p.texts.Submit(ctx, req)
	}
	return p.Provider.Submit(ctx, req)
}

// fresh has texts written by Bedrock as it answers a new AWS account.
func (w *world) fresh(cfg fake.Config) *control.Control {
	w.T.Helper()
	cfg.Control, cfg.Now = control.New(), w.Now
	server := httptest.NewServer(fake.New(cfg))
	w.T.Cleanup(server.Close)
	w.provider.Provider = byKind{w.provider.Provider, bedrock.New(bedrock.Config{
		AWS: aws.Config{Region: "us-west-2",
			Credentials: credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "secret", "")},
		Endpoint: server.URL,
		StandIns: catalog.NewOffer("bedrock,fal,elevenlabs", "us-west-2", w.Now).StandIns,
	})}
	return cfg.Control
}

// A new AWS account is refused models that are Legacy, and those whose terms it has not accepted. The next writer makes
// the item, at the price that was promised.
func TestAnotherWriterTakesThePlaceOfOneThatIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		quality string
		refuses fake.Config
		writer  string // the model that writes
	}{
		"Legacy": {"best", fake.Config{Legacy: []string{"anthropic.claude-sonnet-5-5"}},
			"mistral.mistral-large-3-675b-instruct"},
		"no access to Anthropic": {"best", fake.Config{Denied: []string{"anthropic."}},
			"mistral.mistral-large-3-675b-instruct"},
		"two refused": {"best", fake.Config{Denied: []string{"anthropic."}, Legacy: []string{"mistral."}},
			"deepseek.v3.2"},
		"standard": {"standard", fake.Config{Denied: []string{"anthropic."}}, "mistral.mistral-large-3-675b-instruct"},
		"draft":    {"draft", fake.Config{Legacy: []string{"amazon.nova-lite"}}, "anthropic.claude-haiku-5-5"},
	} {
		w := newWorld(t)
		w.live(10_000)
		promised := w.create("quality", c.quality)
		log := w.fresh(c.refuses)
		w.do(promised.ID)
		got := w.get(promised.ID)
		if got.State != item.Generated || got.CostCredits != promised.ReservedCredits ||
			promised.ReservedCredits == 0 || w.credits() != 10_000-promised.ReservedCredits {
			t.Errorf("%s: %s at %d credits, of %d promised: %+v", name, got.State, got.CostCredits,
				promised.ReservedCredits, got.Failure)
			continue
		}
		accepted := log.Accepted()
		if len(accepted) == 0 || accepted[0].Model != c.writer {
			t.Errorf("%s: written by %+v, want %s", name, accepted, c.writer)
		}
	}
}

// Without a model that could take the place, the work fails, and nothing is charged.
func TestWorkFailsWithoutAnyWriter(t *testing.T) {
	w := newWorld(t)
	w.live(10_000)
	it := w.create("quality", "best")
	w.fresh(fake.Config{Denied: []string{""}})
	w.do(it.ID)
	if got := w.get(it.ID); got.State != item.Failed || got.CostCredits != 0 || w.credits() != 10_000 {
		t.Errorf("%s at %d credits", got.State, got.CostCredits)
	}
}
