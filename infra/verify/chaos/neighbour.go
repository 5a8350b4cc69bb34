package main

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// comparison is how many times as many events as others the rows have whose p99 are
// compared: of few events it is the slowest one or two, which chance decides.
const comparison = 5

// neighbour is a second webhook of the account, with a receiver of its own.
type neighbour struct {
	*receiver
	webhook string
}

// besides returns rows in which a second webhook gets the same events. The first of
// them, in which it is well, is what the others are measured by: what a second
// webhook costs is not what a dead one costs.
func besides() []row {
	const well = "A second webhook, well"
	dead := func(name string, do doing) row {
		return row{
			name: "A second webhook, " + name, against: well, more: comparison, happen: nothing, bounds: bounds{recovery: aim, once: true},
			begin: func(ctx context.Context, s *scene) error { return s.settleBeside(ctx, do) },
		}
	}
	first := dead("", nil)
	first.name, first.against = well, ""
	return []row{
		first,
		dead("refusing connections", hangUp),
		dead("answering 500", answer(http.StatusInternalServerError)),
		dead("never answering", silence),
	}
}

func nothing(context.Context, *scene) error { return nil }

// settleBeside makes a second webhook, to whose receiver something happens with
// every request.
func (s *scene) settleBeside(ctx context.Context, do doing) error {
	r, err := newReceiver(ctx, s.aws.address)
	if err != nil {
		return err
	}
	s.neighbour = &neighbour{receiver: r}
	box := r.open("neighbour")
	if s.neighbour.webhook, err = s.client.newWebhook(ctx, box); err != nil {
		return err
	}
	if do != nil {
		r.add(&fault{times: -1, do: func(c call, w http.ResponseWriter, pass func(http.ResponseWriter)) {
			s.mu.Lock()
			s.hits++
			s.mu.Unlock()
			do(c, w, pass)
		}})
	}
	return nil
}

// moveOut ends a scene's second webhook, and what is left of its messages.
func (s *scene) moveOut(ctx context.Context) error {
	if s.neighbour == nil {
		return nil
	}
	var gone any
	err := s.client.call(ctx, http.MethodDelete, "/v1/webhooks/"+s.neighbour.webhook, "", nil, &gone)
	// Retries wait in the queue for minutes. What is in work may send one more.
	deadline, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return errors.Join(err, s.neighbour.Close(), until(deadline, func() (bool, error) {
		if err := s.wipe(ctx, s.path()...); err != nil {
			return false, err
		}
		n, err := s.messages(ctx, s.path()...)
		return n == 0, err
	}))
}
