package needs

import (
	"os"

	"github.com/caarlos0/env/v11"

	"github.com/content-automation/api/pkg/cloud/topology"
)

// Read reads the needs of a function. It panics if one is missing, at the start of
// the function, so that its deployment fails.
func Read[T any]() T { return env.Must(env.ParseAs[T]()) }

// QueueURL reads the address of a queue. It panics if it is missing.
func QueueURL(q topology.Queue) string {
	url := os.Getenv(q.EnvName())
	if url == "" {
		panic("needs: " + q.EnvName() + " is not set")
	}
	return url
}

// QueueURLs reads the addresses of queues. It panics if one is missing.
func QueueURLs(queues []topology.Queue) map[topology.Queue]string {
	urls := make(map[topology.Queue]string, len(queues))
	for _, q := range queues {
		urls[q] = QueueURL(q)
	}
	return urls
}
