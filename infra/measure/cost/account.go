package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/cloud/topology"
)

// acceptedASecond is how many generations of one account are accepted a second: each is a
// transaction that changes the balance, and those that meet are repeated.
const acceptedASecond = 100

// regionConcurrency is Lambda's default quota of an account in a region, of which AWS keeps
// leastUnreserved free of reservations.
const (
	regionConcurrency = 1000
	leastUnreserved   = 100
)

// quota is a default quota of an AWS account in one region.
type quota struct {
	what string
	// has is how many there are for stacks, and takes how many one stack takes.
	has, takes int
	name       string
}

// stacks is how many stacks it is enough for.
func (q quota) stacks() int { return q.has / q.takes }

// accountQuotas are the quotas that stacks of shared customers in one account share, the
// scarcest first.
func accountQuotas() []quota {
	reserved := 0
	for _, f := range topology.Functions {
		reserved += f.Reserved
	}
	all := []quota{
		{"Lambda: concurrency that may be reserved", regionConcurrency - leastUnreserved, reserved, "Concurrent executions"},
		{"X-Ray: sampling rules", 25, 1, "Custom sampling rules"},
		{"EventBridge: buses", 100, 1, "Event buses"},
		{"WAF: web ACLs", 100, 1, "Maximum web ACLs per account"},
		{"DynamoDB: tables", 2500, 2, "Maximum number of tables"},
	}
	slices.SortStableFunc(all, func(a, b quota) int { return cmp.Compare(a.stacks(), b.stacks()) })
	return all
}

// accountMarkdown writes how many stacks an AWS account takes.
func accountMarkdown() string {
	all := accountQuotas()
	var b strings.Builder
	fmt.Fprintf(&b, "One AWS account takes %d stacks of shared customers in a region with its default quotas. One account of the API takes %d accepted generations a second.\n\n", all[0].stacks(), acceptedASecond)
	b.WriteString("| Quota of an AWS account in a region | Default | A stack takes | Stacks | Ask for |\n|---|---|---|---|---|\n")
	for _, q := range all {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | `%s` |\n", q.what, q.has, q.takes, q.stacks(), q.name)
	}
	return b.String()
}
