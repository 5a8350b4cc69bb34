package webhook

import (
	"crypto/rand"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/arn"

	"github.com/content-automation/api/pkg/httpapi/apitest"
	"github.com/content-automation/api/pkg/safehttp"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/store/storetest"
)

// hookURL is an address where nobody listens.
const hookURL = "http://127.0.0.1:9/hook"

// deliverRole is the role of the deliver function.
var deliverRole = arn.ARN{Partition: "aws", Service: "iam", AccountID: "444455556666", Resource: "role/acme-prod-eu-central-1-deliver"}

// newCaller gives a caller of the operations of the area.
func newCaller(t *testing.T, db *store.DB, c *apitest.Clock, urls URLChecker) *apitest.Caller {
	return apitest.New(t, db, &apitest.Log{}, c.Now, NewService(db, urls, deliverRole, c.Now, rand.Reader))
}

// create makes a webhook.
func create(t *testing.T, c *apitest.Caller, url string, types ...string) (w NewWebhook) {
	t.Helper()
	c.Call(http.MethodPost, "/v1/webhooks", map[string]any{"url": url, "event_types": types}).Into(t, http.StatusCreated, &w)
	return w
}

// local is the client of the local system: it may call loopback addresses.
func local() *safehttp.Client { return NewClient(true) }

// on opens a table and a caller of its operations.
func on(t *testing.T) (*store.DB, *apitest.Clock, *apitest.Caller) {
	c := apitest.NewClock()
	db := storetest.Open(t, c.Now)
	return db, c, newCaller(t, db, c, local())
}
