package record_test

import (
	"crypto/rand"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/record/connection/cognito"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

const cognitoAcme tenant.Account = "acc_acme"

// office is a service that sets providers up, with the worker that offers them.
type office struct {
	*service
	t           *testing.T
	db          *store.DB
	faults      *storetest.Faults
	clock       *apitest.Clock
	connections *connection.Service
	kernel      *task.Kernel
}

func open(t *testing.T) *office {
	s, _ := start(t)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	pool := cognito.New(aws.Config{Region: "eu-central-1", BaseEndpoint: &server.URL,
		Retryer:     func() aws.Retryer { return aws.NopRetryer{} },
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}, "pool", "")
	o := &office{service: s, t: t, faults: &storetest.Faults{}, clock: apitest.NewClock()}
	o.db = storetest.Open(t, o.clock.Now, o.faults.Attach)
	o.connections = connection.NewService(o.db, o.clock.Now, rand.Reader, nil, pool)
	o.kernel = servicetest.Kernel(o.db, o.clock.Now, map[task.Kind]task.Handler{
		connection.OfferKind: task.Func(connection.Offerer{DB: o.db, Client: pool, Now: o.clock.Now}.Offer)})
	return o
}

// setUp makes a connection with a provider, and returns the message of its task. It does not touch the client.
func (o *office) setUp(name string) (connection.Connection, task.Message) {
	o.t.Helper()
	c, err := o.connections.Create(o.t.Context(), cognitoAcme, connection.Settings{Name: &name})
	if err == nil {
		c, err = o.connections.SetProvider(o.t.Context(), cognitoAcme, c.ID, okta)
	}
	if err != nil {
		o.t.Fatal(err)
	}
	return c, task.Message{ID: task.ID(connection.OfferKind, c.ID, c.Offers), Step: 1}
}

// end takes the steps of a task to its end, each when it is due, and returns their number.
func (o *office) end(m task.Message) (steps int) {
	o.t.Helper()
	for {
		next, err := o.kernel.Do(o.t.Context(), m, "")
		if err != nil {
			o.t.Fatal(err)
		}
		if steps++; next == nil {
			return steps
		}
		if steps == 100 {
			o.t.Fatalf("%s does not end", m.ID)
		}
		o.clock.Add(next.Delay)
		m = next.Message
	}
}

// offered are the providers that people can choose.
func (o *office) offered() string { return fmt.Sprint(o.client["SupportedIdentityProviders"]) }

// choice is offered with the providers of the connections.
func choice(all ...connection.Connection) string {
	names := []string{"COGNITO"}
	for _, c := range all {
		names = append(names, c.Provider())
	}
	slices.Sort(names)
	return fmt.Sprint(names)
}

func (o *office) updates() int {
	return strings.Count(strings.Join(o.calls, " "), "UpdateUserPoolClient")
}

func TestASetUpLeavesTheClientToTheWorker(t *testing.T) {
	o := open(t)
	c, m := o.setUp("Okta")
	if got := strings.Join(o.calls, " "); got != "CreateIdentityProvider" {
		t.Errorf("the set-up calls %s", got)
	}
	if o.end(m); o.offered() != choice(c) {
		t.Errorf("people can choose %s", o.offered())
	}
	if err := o.connections.Remove(t.Context(), cognitoAcme, c.ID); err != nil {
		t.Fatal(err)
	}
	m.ID = task.ID(connection.OfferKind, c.ID, 2)
	if o.end(m); o.offered() != choice() || len(o.providers) != 0 {
		t.Errorf("after the removal people can choose %s of %v", o.offered(), o.providers)
	}
}

// While one task changes the client, another waits.
func TestTwoSetUpsAtOnceAreOneAfterTheOther(t *testing.T) {
	o := open(t)
	one, first := o.setUp("Okta")
	two, second := o.setUp("Entra")
	var waits *task.Next
	var before, after int
	o.meanwhile = func() {
		before = len(o.calls)
		var err error
		if waits, err = o.kernel.Do(t.Context(), second, ""); err != nil {
			t.Error(err)
		}
		after = len(o.calls)
	}
	o.end(first)
	if waits == nil || waits.Delay <= 0 || waits.Delay > time.Minute || before == 0 || before != after {
		t.Errorf("the other task makes %d calls meanwhile, and goes on with %+v", after-before, waits)
	}
	if o.offered() != choice(one, two) {
		t.Errorf("people can choose %s", o.offered())
	}
	o.clock.Add(waits.Delay)
	if o.end(waits.Message); o.offered() != choice(one, two) || o.updates() != 1 {
		t.Errorf("people can choose %s after %d updates", o.offered(), o.updates())
	}
}

// A function dies after its call, before it has told so. The lock ends, and the message comes again.
func TestAWorkerThatDiesAfterItsCall(t *testing.T) {
	o := open(t)
	c, m := o.setUp("Okta")
	o.meanwhile = func() { o.faults.Disconnect("TransactWriteItems", 100) }
	if next, err := o.kernel.Do(t.Context(), m, ""); err == nil {
		t.Fatalf("the outcome was written: %+v", next)
	}
	o.faults.Reset()
	if next, err := o.kernel.Do(t.Context(), m, ""); err != nil || next == nil || o.updates() != 1 {
		t.Fatalf("before the lock ends: %+v, %v", next, err)
	}
	o.clock.Add(time.Minute)
	m.Step = 2
	if o.end(m); o.offered() != choice(c) || o.updates() != 1 {
		t.Errorf("people can choose %s after %d updates", o.offered(), o.updates())
	}
}

// The answer of the update is lost, though Cognito has made it. It is asked again, and finds nothing to do.
func TestALostAnswerIsRepeated(t *testing.T) {
	o := open(t)
	c, m := o.setUp("Okta")
	o.lose = true
	if steps := o.end(m); steps < 2 || o.lose {
		t.Errorf("it took %d steps", steps)
	}
	if o.offered() != choice(c) || o.updates() != 1 {
		t.Errorf("people can choose %s after %d updates", o.offered(), o.updates())
	}
}

// A throttled Cognito costs time only: the task neither fails nor counts failures.
func TestAThrottledCognito(t *testing.T) {
	o := open(t)
	c, m := o.setUp("Okta")
	const most = 20
	o.busy = most
	began, failures := o.clock.Now(), 0
	for o.busy > 0 {
		next, err := o.kernel.Do(t.Context(), m, "")
		if err != nil || next == nil {
			t.Fatalf("after %d refusals: %+v, %v", most-o.busy, next, err)
		}
		it, err := o.db.Get(t.Context(), store.IDKey(m.ID))
		var is task.Task
		if err == nil {
			err = it.Decode(&is)
		}
		if err != nil {
			t.Fatal(err)
		}
		failures = max(failures, is.Failures)
		o.clock.Add(next.Delay)
		m = next.Message
	}
	if o.end(m); o.offered() != choice(c) || failures != 0 {
		t.Errorf("people can choose %s after %d counted failures", o.offered(), failures)
	}
	if took := o.clock.Now().Sub(began); took < most*time.Second {
		t.Errorf("it was asked %d times in %v", most, took)
	}
}
