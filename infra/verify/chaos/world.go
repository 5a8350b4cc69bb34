package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/content-automation/api/infra/local/system"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/store"
)

// plenty is a rate limit that is never reached.
const plenty = 1_000_000

// world is a separate system with a receiver of webhooks. Its functions reach AWS and the fake providers through
// proxies.
type world struct {
	system    *system.System
	aws       *proxy
	providers *proxy
	receiver  *receiver
	queues    *sqs.Client
}

// newWorld starts the system, which writes its files into dir.
func newWorld(ctx context.Context, dir string, say func(string)) (_ *world, err error) {
	w := &world{}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if w.aws, err = newProxy(ctx, "", ofAWS); err != nil {
		return nil, err
	}
	if w.providers, err = newProxy(ctx, w.aws.address, ofProvider); err != nil {
		return nil, err
	}
	if w.receiver, err = newReceiver(ctx, w.aws.address); err != nil {
		return nil, err
	}
	through := func(service system.Service, endpoint string) (string, error) {
		switch service {
		case system.AWS:
			return w.aws.through(endpoint)
		case system.Providers:
			return w.providers.through(endpoint)
		case system.Platforms:
			return endpoint, nil
		default:
			return "", fmt.Errorf("no proxy for %s", service)
		}
	}
	if w.system, err = system.Start(ctx, system.Options{Dir: dir, Say: say, Through: through}); err != nil {
		return nil, err
	}
	w.queues = sqs.NewFromConfig(w.system.AWS())
	return w, nil
}

// close stops everything that newWorld has started.
func (w *world) close() error {
	if w.system != nil {
		w.system.Stop()
	}
	var all error
	if w.receiver != nil {
		all = w.receiver.Close()
	}
	for _, p := range []*proxy{w.aws, w.providers} {
		if p != nil {
			all = errors.Join(all, p.Close())
		}
	}
	return all
}

// newKey creates an account with credits, and returns the secret of a key of it that has all permissions.
func (w *world) newKey(ctx context.Context, name string, mode tenant.Mode) (string, error) {
	db := store.Open(w.system.AWS(), w.system.Table)
	accounts := account.NewService(db, time.Now)
	limit := plenty
	a, err := accounts.Create(ctx, account.Settings{Name: &name, TestLimit: &limit, LiveLimit: &limit})
	if err != nil {
		return "", err
	}
	if _, err := accounts.TopUp(ctx, tenant.Account(a.ID), credits); err != nil {
		return "", err
	}
	k, err := apikey.NewService(db, accounts, time.Now, rand.Reader).Issue(ctx, tenant.Account(a.ID), mode,
		apikey.Settings{Name: name, Scopes: auth.AllScopes()})
	return k.Secret, err
}

// sweep calls the function due as an operator does who knows that messages were lost.
func (w *world) sweep(ctx context.Context) (found worker.SearchResult, err error) {
	err = w.system.Invoke(ctx, "due", `{"now":true}`, &found)
	return found, err
}

// wipe empties queues, including the messages that are in work.
func (w *world) wipe(ctx context.Context, urls ...string) error {
	var all error
	for _, url := range urls {
		_, err := w.queues.PurgeQueue(ctx, &sqs.PurgeQueueInput{QueueUrl: &url})
		all = errors.Join(all, err)
	}
	return all
}

// messages returns the number of messages that the queues hold in any state.
func (w *world) messages(ctx context.Context, urls ...string) (n int, err error) {
	for _, url := range urls {
		out, err := w.queues.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &url,
			AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll}})
		if err != nil {
			return 0, err
		}
		for name, value := range out.Attributes {
			if strings.HasPrefix(name, string(types.QueueAttributeNameApproximateNumberOfMessages)) {
				some, err := strconv.Atoi(value)
				if err != nil {
					return 0, err
				}
				n += some
			}
		}
	}
	return n, nil
}
