package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/content-automation/api/clients/cli/internal/sample"
	nearest "github.com/content-automation/api/pkg/base/text"
)

func triggerCommand(w machine) *cobra.Command {
	var to target
	cmd := &cobra.Command{
		Use:   "trigger [TYPE…]",
		Short: "Send a sample of an event to an address",
		Long: "Send a signed sample of an event to an address. Without an address, print the sample; without a type, " +
			"list the types.\n\n" +
			"The sample is about a resource that does not exist. The command does not call the API: no event of an " +
			"account is made, and webhooks receive nothing. " +
			"To send a sample through a webhook, use POST /v1/webhooks/{webhook_id}/test.",
		Example: "  " + w.called() + " trigger\n" +
			"  " + w.called() + " trigger content.generated --forward-to http://localhost:3000/hooks --secret whsec_…",
		RunE: func(cmd *cobra.Command, types []string) error { return trigger(cmd.Context(), w, &to, types) },
	}
	to.flags(cmd)
	return cmd
}

func trigger(ctx context.Context, w machine, to *target, types []string) error {
	known := sample.Types()
	for _, t := range types {
		if !slices.Contains(known, t) {
			return fmt.Errorf("%q is no type of event%s\nThe types are:\n%s", t, nearest.NearestHint(t, known), listOfTypes())
		}
	}
	switch {
	case len(types) == 0 && to.address == "":
		fmt.Fprint(w.out, listOfTypes())
		return nil
	case len(types) == 0:
		return errors.New("name the type of event to send\nThe types are:\n" + listOfTypes())
	case to.address == "":
		return printSamples(w, types)
	}
	sender, err := to.sender(w)
	if err != nil {
		return err
	}
	refused := 0
	for _, t := range types {
		id, body, err := sample.Event(t, w.now())
		if err != nil {
			return failure{error: err}
		}
		answer, err := sender.Send(ctx, id, body)
		if errors.Is(err, context.Canceled) {
			return err
		}
		fmt.Fprintf(w.out, "%s  %s  %s  %s\n", w.now().Format(time.TimeOnly), t, id, outcome(answer, err))
		if err != nil || !answer.Accepted() {
			refused++
		}
	}
	if refused > 0 {
		return failure{error: fmt.Errorf("%d of %d samples were not answered with 2xx", refused, len(types))}
	}
	return nil
}

func printSamples(w machine, types []string) error {
	for _, t := range types {
		_, body, err := sample.Event(t, w.now())
		if err != nil {
			return failure{error: err}
		}
		fmt.Fprintf(w.out, "%s\n", body)
	}
	return nil
}

// listOfTypes returns a line for each type of event.
func listOfTypes() string {
	var list string
	for _, t := range sample.Types() {
		list += fmt.Sprintf("  %-30s %s\n", t, sample.Summary(t))
	}
	return list
}
