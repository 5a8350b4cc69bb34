package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/content-automation/api/clients/cli/internal/follow"
	"github.com/content-automation/api/clients/cli/internal/forward"
)

const (
	// apiTimeout bounds a request to the API; the API answers within 30 seconds.
	apiTimeout = 35 * time.Second
	// maxTries is the greatest number of attempts to send an event.
	maxTries = 4
)

// listening has the flags and the state of the command listen.
type listening struct {
	machine
	target
	key, base, since, events string
	sender                   *forward.Sender
	patterns                 []string
	forwarded, lost          int
}

func listenCommand(w machine) *cobra.Command {
	l := &listening{machine: w}
	cmd := &cobra.Command{
		Use:   "listen --forward-to ADDRESS",
		Short: "Send the events of your account to an address, as they happen",
		Long: "Send the events of your account to an address, as they happen. The command reads GET /v1/events with " +
			"an API key; no webhook is needed, and the address need not be public. " +
			"It sends the events that the key may read, of the key's mode: test or live.\n\n" +
			"Requests are signed as Standard Webhooks 1.0 defines, like those of webhooks. An event that is not " +
			"answered with 2xx within 15 seconds is sent up to four times. Ctrl-C ends the command.",
		Example: "  export BASE_URL=http://127.0.0.1:8080 SVC_API_KEY=svc_test_…\n" +
			"  " + w.called() + " listen --forward-to http://localhost:3000/hooks\n" +
			"  " + w.called() + " listen --forward-to http://localhost:3000/hooks --events " +
			"'content.*,studio.generated' --since 15m",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return l.run(cmd.Context()) },
	}
	l.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&l.key, "api-key", "", "API key with the scope account:read; default: SVC_API_KEY, which other users "+
		"of the machine do not see, or the key of the last login")
	f.StringVar(&l.base, "base-url", "", "base URL of the API; default: BASE_URL")
	f.StringVar(&l.since, "since", "", "send the events since then first: a time such as 2026-11-22T06:00:00Z, or a "+
		"duration such as 15m (the API keeps 30 days); default: now")
	f.StringVar(&l.events, "events", "*", "types of events, separated by commas; content.* stands for all that begin "+
		"with content")
	return cmd
}

func (l *listening) run(ctx context.Context) error {
	f, err := l.follower()
	if err != nil {
		return err
	}
	if l.patterns, err = patterns(l.events); err != nil {
		return err
	}
	if len(l.patterns) == 1 && l.patterns[0] != "*" {
		f.Pattern = l.patterns[0]
	}
	start, ago, err := sinceOf(l.since)
	if err != nil {
		return err
	}
	if l.sender, err = l.target.sender(l.machine); err != nil {
		return err
	}
	err = l.follow(ctx, f, start, ago)
	if ctx.Err() != nil {
		fmt.Fprintf(l.notes, "Ended. Forwarded: %d, not accepted: %d.\n", l.forwarded, l.lost)
		return nil
	}
	return failure{error: err}
}

// follow sends events from start on. Without a start, it begins ago before the present by the
// service's clock, which may differ from the machine's.
func (l *listening) follow(ctx context.Context, f *follow.Follower, start time.Time, ago time.Duration) error {
	now, err := f.Time(ctx)
	if err != nil {
		return err
	}
	if start.IsZero() {
		start = now.Add(-ago)
	}
	fmt.Fprintf(l.out, "Forwarding the events of %s since %s to %s. Ctrl-C ends it.\n", f.BaseURL,
		start.UTC().Format(time.RFC3339), l.address)
	return f.Follow(ctx, start, l.forward)
}

// follower returns the follower of the account's events.
func (l *listening) follower() (*follow.Follower, error) {
	if l.address == "" {
		return nil, errors.New("name the address of your receiver by --forward-to, such as http://localhost:3000/hooks")
	}
	key, base, err := l.access(l.key, l.base)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(key, "svc_") || strings.ContainsFunc(key, unicode.IsControl) {
		return nil, errors.New("give an API key (svc_test_… or svc_live_…) in SVC_API_KEY or by --api-key")
	}
	if err := checkBase(base); err != nil {
		return nil, err
	}
	return &follow.Follower{
		Client: &http.Client{Timeout: apiTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		BaseURL: serviceOf(base), Key: key,
		Now: l.now, Wait: l.wait, Notice: func(message string) { fmt.Fprintln(l.notes, message) },
	}, nil
}

// sinceOf reads a time, or a duration before the present.
func sinceOf(since string) (at time.Time, ago time.Duration, err error) {
	if since == "" {
		return at, 0, nil
	}
	if at, err = time.Parse(time.RFC3339, since); err == nil {
		return at, 0, nil
	}
	if ago, err = time.ParseDuration(since); err != nil || ago <= 0 {
		return at, 0, fmt.Errorf("--since must be a time such as 2026-11-22T06:00:00Z or a duration such as 15m, not %q", since)
	}
	return time.Time{}, ago, nil
}

// forward sends an event until it is accepted. It gives up after a few attempts, because other
// events wait.
func (l *listening) forward(ctx context.Context, e follow.Event) error {
	if !chosen(e.Type, l.patterns) {
		return nil
	}
	for try := 1; ; try++ {
		answer, err := l.sender.Send(ctx, e.ID, e.Body)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		line := fmt.Sprintf("%s  %s  %s  %s  ", l.now().Format(time.TimeOnly), e.Type, e.ID, e.ObjectID) +
			outcome(answer, err)
		if err == nil && answer.Accepted() {
			fmt.Fprintln(l.out, line)
			l.forwarded++
			return nil
		}
		if try == maxTries {
			fmt.Fprintf(l.out, "%s, given up after %d tries\n", line, maxTries)
			l.lost++
			return nil
		}
		pause := time.Second << (try - 1)
		fmt.Fprintf(l.out, "%s, next try in %v\n", line, pause)
		if err := l.wait(ctx, pause); err != nil {
			return err
		}
	}
}

// outcome describes the result of an attempt.
func outcome(a forward.Answer, err error) string {
	if err != nil {
		return "no answer: " + err.Error()
	}
	text := fmt.Sprintf("%d  %d ms", a.Status, a.Latency.Milliseconds())
	if a.Status >= 300 && a.Status <= 399 {
		text += " (redirects are not followed)"
	}
	return text
}
