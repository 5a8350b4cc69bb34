package catalog

import (
	"errors"
	"math"
	"testing"
	"time"
)

func TestCostsAreRoundedUpOnce(t *testing.T) {
	for _, c := range []struct {
		name  string
		model string
		q     Quantity
		want  int64
	}{
		{"nothing", "flux-pro-1.1", Quantity{}, 0},
		{"one image of 4 credits", "flux-pro-1.1", Quantity{Images: 1}, 4},
		{"an image of exactly one megapixel", "flux-pro-1.1", Quantity{Images: 1, Width: 1024, Height: 1024}, 4},
		{"an image of a little more", "flux-pro-1.1", Quantity{Images: 1, Width: 1080, Height: 1350}, 8},
		{"five of them", "flux-pro-1.1", Quantity{Images: 5, Width: 1080, Height: 1350}, 40},
		{"an image where size does not matter", "nano-banana", Quantity{Images: 1, Width: 4000, Height: 4000}, 4},
		{"ten images of 0.3 credits", "flux-schnell", Quantity{Images: 10}, 3},
		{"eleven of them", "flux-schnell", Quantity{Images: 11}, 4},
		{"one of them", "flux-schnell", Quantity{Images: 1}, 1},
		{"five seconds of 14 credits", "kling-3-turbo-pro", Quantity{Length: 5 * time.Second}, 70},
		{"a millisecond more", "kling-3-turbo-pro", Quantity{Length: 5*time.Second + time.Millisecond}, 71},
		{"five seconds of 13.46 credits", "seedance-2-480p", Quantity{Length: 5 * time.Second}, 68},
		{"a prompt of 100,000 tokens", "claude-haiku-5.5", Quantity{InputTokens: 1e5, OutputTokens: 1e5}, 6},
		{"a token more", "claude-haiku-5.5", Quantity{InputTokens: 1e5 + 1, OutputTokens: 1e5}, 31},
		{"two pictures of 1.317 credits", "gpt-image-2.5-flare", Quantity{Images: 2}, 3},
		{"a minute of 0.02 credits a second", "ace-step", Quantity{Length: time.Minute}, 2},
		{"a track", "stable-audio-2.5", Quantity{Tracks: 1, Length: time.Minute}, 20},
		{"a thousand characters", "eleven-multilingual-2", Quantity{Characters: 1000}, 8},
		{"one character", "eleven-multilingual-2", Quantity{Characters: 1}, 1},
		{"ten thousand characters of 0.4 credits a thousand", "polly-standard", Quantity{Characters: 10000}, 4},
		{"a million tokens read", "nova-lite", Quantity{InputTokens: 1e6}, 6},
		{"a million tokens written", "nova-lite", Quantity{OutputTokens: 1e6}, 24},
		{"both, rounded together", "nova-lite", Quantity{InputTokens: 1500, OutputTokens: 400}, 1},
		{"ten million tokens each way of the smallest", "nova-micro",
			Quantity{InputTokens: 1e7, OutputTokens: 1e7}, 175},
		{"three hundred years", "kling-3-turbo-pro", Quantity{Length: math.MaxInt64}, 129_127_208_516},
	} {
		m, ok := Find(c.model)
		if !ok {
			t.Fatalf("no model %s", c.model)
		}
		got, err := m.Cost(c.q)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if got != c.want {
			t.Errorf("%s: %d credits, want %d", c.name, got, c.want)
		}
	}
}

func TestWhatHasNoCost(t *testing.T) {
	if _, err := (Model{ID: "x"}).Cost(Quantity{Tracks: 1}); !errors.Is(err, ErrNoPrice) {
		t.Errorf("got %v, want ErrNoPrice", err)
	}
	for _, q := range []Quantity{{Images: -1}, {Length: -time.Second}, {Tracks: -1}, {InputTokens: -1}} {
		if got, err := Default("image").Cost(q); err == nil {
			t.Errorf("%+v costs %d", q, got)
		}
	}
	unknown := Model{ID: "x", Price: &Price{Unit: "hour", Credits: 1, Per: 1}}
	if got, err := unknown.Cost(Quantity{}); err == nil {
		t.Errorf("an hour costs %d", got)
	}
}

func TestAbsurdQuantitiesDoNotComeOutCheap(t *testing.T) {
	for _, q := range []Quantity{
		{Images: math.MaxInt64},
		{Images: math.MaxInt32, Width: math.MaxInt64, Height: math.MaxInt64},
	} {
		if got, err := Default("image").Cost(q); err != nil || got < 1e15 {
			t.Errorf("%+v costs %d, %v", q, got, err)
		}
	}
	m := Default("text")
	if got, err := m.Cost(Quantity{InputTokens: math.MaxInt64, OutputTokens: math.MaxInt64}); err != nil || got < 1e12 {
		t.Errorf("all tokens cost %d, %v", got, err)
	}
}

// The service bears one unit of the price, or a tenth of the reservation.
func TestWhatAResultMayCostMore(t *testing.T) {
	for _, c := range []struct {
		model                string
		reserved, cost, want int64
	}{
		{"heygen-avatar-4", 30, 10, 0}, {"heygen-avatar-4", 30, 40, 0}, {"heygen-avatar-4", 30, 41, 11},
		{"heygen-avatar-4", 300, 330, 0}, {"heygen-avatar-4", 300, 331, 31},
		{"stable-audio-2.5", 20, 40, 0}, {"stable-audio-2.5", 20, 60, 40},
		{"polly-standard", 1, 2, 0}, {"polly-standard", 1, 3, 2},
	} {
		if got := model(t, c.model).Excess(c.reserved, c.cost); got != c.want {
			t.Errorf("%s: %d of %d: %d, want %d", c.model, c.cost, c.reserved, got, c.want)
		}
	}
}
