package captions

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/probe"
	"github.com/content-automation/api/pkg/provider"
	"github.com/content-automation/api/pkg/provider/providertest"
)

func TestConformance(t *testing.T) {
	requests := []provider.Request{
		{Prompt: "One.", Spoken: time.Second},
		{Prompt: strings.Repeat("A sentence of several words, which goes on. ", 40), Spoken: 90 * time.Second},
		{Prompt: strings.Repeat("字", 200), Spoken: 40 * time.Second},
		{Prompt: `<b>"Tags" & arrows --> are shown</b>`, Spoken: 3 * time.Second},
	}
	for i := range requests {
		requests[i].Kind, requests[i].ClientToken = provider.KindCaptions, string(rune('a'+i))
	}
	providertest.Run(t, providertest.Suite{
		Provider: New(), Requests: requests, Immediate: true, Advance: func(time.Duration) {},
		Faults: []providertest.Fault{
			{Name: "a speech of no length", Arrange: func(*testing.T) {}, Want: provider.BadInput, Call: func(ctx context.Context, p provider.Provider) error {
				_, err := p.Submit(ctx, provider.Request{Kind: provider.KindCaptions, Prompt: "x"})
				return err
			}},
			{Name: "a speech of a day", Arrange: func(*testing.T) {}, Want: provider.BadInput, Call: func(ctx context.Context, p provider.Provider) error {
				_, err := p.Submit(ctx, provider.Request{Kind: provider.KindCaptions, Prompt: "x", Spoken: 24 * time.Hour})
				return err
			}},
		},
	})
}

// made returns the captions of a script.
func made(t *testing.T, script string, spoken time.Duration) string {
	t.Helper()
	sub, err := New().Submit(t.Context(), provider.Request{Kind: provider.KindCaptions, Prompt: script, Spoken: spoken})
	if err != nil {
		t.Fatal(err)
	}
	r, err := sub.Result.Media[0].Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := probe.Bytes(b); err != nil || info.Type != media.Captions || info.MIMEType != "text/vtt" {
		t.Errorf("probed as %+v, %v", info, err)
	}
	return string(b)
}

func TestCuesShareTheSpeechByTheirLength(t *testing.T) {
	for _, c := range []struct {
		script string
		spoken time.Duration
		want   string
	}{
		{"Made of nets.", 2500 * time.Millisecond, "WEBVTT\n\n00:00:00.000 --> 00:00:02.500\nMade of nets.\n"},
		{"Ten signs. \"And ten.\" And twice ten, I say.", 4300 * time.Millisecond,
			"WEBVTT\n\n00:00:00.000 --> 00:00:01.048\nTen signs.\n\n00:00:01.048 --> 00:00:02.097\n\"And ten.\"\n\n00:00:02.097 --> 00:00:04.300\nAnd twice ten, I say.\n"},
		{"It costs 3.50 & is < 4.", time.Hour + 61*time.Second + 7*time.Millisecond, "WEBVTT\n\n00:00:00.000 --> 01:01:01.007\nIt costs 3.50 &amp; is &lt; 4.\n"},
		{"五个字。五个字。", 2 * time.Second, "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\n五个字。\n\n00:00:01.000 --> 00:00:02.000\n五个字。\n"},
		{"A. B. C.", 3 * time.Millisecond, "WEBVTT\n\n00:00:00.000 --> 00:00:00.001\nA.\n\n00:00:00.001 --> 00:00:00.002\nB.\n\n00:00:00.002 --> 00:00:00.003\nC.\n"},
	} {
		if got := made(t, c.script, c.spoken); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}

func TestLongSentencesBecomeSeveralCues(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("seven seas ", 30))
	shown := ""
	for _, block := range strings.Split(made(t, long, time.Minute), "\n\n")[1:] {
		lines := strings.Split(strings.TrimSpace(block), "\n")[1:]
		if len(lines) > maxLines {
			t.Errorf("shown at once: %q", lines)
		}
		for _, line := range lines {
			if len(line) > maxLine {
				t.Errorf("the line %q has %d characters", line, len(line))
			}
			shown += " " + line
		}
	}
	if strings.TrimSpace(shown) != long {
		t.Errorf("shown is %q", shown)
	}
}
