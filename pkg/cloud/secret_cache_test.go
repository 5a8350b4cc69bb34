package cloud_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/cloud/secret"
)

// source is a secret that can change, be away, and be counted.
type source struct {
	value string
	err   error
	reads int
}

func (s *source) read(context.Context) (string, error) {
	s.reads++
	return s.value, s.err
}

type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func same(text string) (string, error) { return text, nil }

func newCache(value string) (*secret.Cache[string], *source, *clock) {
	src, c := &source{value: value}, &clock{time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)}
	return secret.NewCache(src.read, same, c.now), src, c
}

// want checks the value, and how often the secret was read so far.
func want(t *testing.T, c *secret.Cache[string], src *source, value string, reads int) {
	t.Helper()
	got, err := c.Get(t.Context())
	if err != nil || got != value || src.reads != reads {
		t.Errorf("got %q, %v after %d reads; want %q after %d", got, err, src.reads, value, reads)
	}
}

func TestARefusedValueIsReadAgain(t *testing.T) {
	s, src, c := newCache("one")
	want(t, s, src, "one", 1)
	s.Forget(t.Context()) // so soon after it was read, the secret has not changed
	want(t, s, src, "one", 1)
	c.at = c.at.Add(10 * time.Second)
	src.value = "two"
	s.Forget(t.Context())
	want(t, s, src, "two", 2)
	want(t, s, src, "two", 2)
}

func TestASecretStoreThatIsAway(t *testing.T) {
	away := errors.New("no route to host")
	s, src, c := newCache("one")
	src.err = away
	if value, err := s.Get(t.Context()); !errors.Is(err, away) {
		t.Errorf("got %v, %v", value, err)
	}
	src.err = nil
	want(t, s, src, "one", 2)
	// The earlier value stays valid, and is read again now and then.
	src.err = away
	c.at = c.at.Add(secret.Lifetime)
	want(t, s, src, "one", 3)
	want(t, s, src, "one", 3)
	c.at = c.at.Add(30 * time.Second)
	want(t, s, src, "one", 4)
	// A refused value is not used again.
	s.Forget(t.Context())
	if value, err := s.Get(t.Context()); !errors.Is(err, away) {
		t.Errorf("got %v, %v", value, err)
	}
}

func TestWaitingForTheSecretMindsTheContext(t *testing.T) {
	reading, release := make(chan struct{}), make(chan struct{})
	s := secret.NewCache(func(context.Context) (string, error) {
		close(reading)
		<-release
		return "one", nil
	}, same, time.Now)
	var wait sync.WaitGroup
	wait.Go(func() {
		if _, err := s.Get(t.Context()); err != nil {
			t.Error(err)
		}
	})
	<-reading
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Get(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	s.Forget(ctx)
	close(release)
	wait.Wait()
}
