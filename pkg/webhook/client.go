package webhook

import (
	"github.com/content-automation/api/pkg/safehttp"
)

// userAgent is how receivers see us.
const userAgent = "ContentAutomation-Webhooks/1.0"

// NewClient makes the client that checks and calls the addresses of webhooks.
func NewClient(allowLoopback bool) *safehttp.Client {
	return safehttp.New(safehttp.Options{AllowLoopback: allowLoopback, UserAgent: userAgent, Timeout: attemptTimeout})
}
