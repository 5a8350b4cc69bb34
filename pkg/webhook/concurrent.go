package webhook

import "golang.org/x/sync/errgroup"

// concurrently calls f for each number below n, at most limit at a time.
func concurrently(n, limit int, f func(i int)) {
	var group errgroup.Group
	group.SetLimit(limit)
	for i := range n {
		group.Go(func() error {
			f(i)
			return nil
		})
	}
	_ = group.Wait() // f gives no errors
}
