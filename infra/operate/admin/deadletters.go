package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/spf13/cobra"
)

// mostListed is the greatest number of letters of one queue that are listed.
const mostListed = 200

func deadLettersCommand(out io.Writer, open func(context.Context, string) (*work, error)) *cobra.Command {
	cmd := group("dead-letters", "List dead letters and send them back")
	var stack, name string
	var w *work
	// It replaces the hook of the root, which requires a table.
	cmd.PersistentPreRunE = func(cmd *cobra.Command, _ []string) (err error) {
		if !cmd.HasSubCommands() {
			w, err = open(cmd.Context(), stack)
		}
		return err
	}
	cmd.PersistentFlags().StringVar(&stack, "stack", os.Getenv("STACK_NAME"), "common prefix of the stacks' names: "+
		"<customer>-<stage>-<region>")
	list := &cobra.Command{Use: "list", Short: "Count and list the dead letters without removing them",
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			names := slices.Sorted(maps.Keys(w.dead))
			if name != "" {
				names = []string{name}
			}
			for _, name := range names {
				url, err := w.find(name)
				if err != nil {
					return err
				}
				if err := w.list(cmd.Context(), out, name, url); err != nil {
					return err
				}
			}
			return nil
		}}
	list.Flags().StringVar(&name, "queue", "", "only the dead letters of this queue")
	most := 0
	redrive := &cobra.Command{Use: "redrive", Short: "Send dead letters back to where they came from",
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			url, err := w.find(name)
			if err != nil {
				return err
			}
			if most < 1 {
				return errors.New("--max must be at least 1")
			}
			return w.redrive(cmd.Context(), out, url, most)
		}}
	redrive.Flags().StringVar(&name, "queue", "", "source of the dead letters, as shown by list")
	redrive.Flags().IntVar(&most, "max", 1000, "maximum number of messages")
	_ = redrive.MarkFlagRequired("queue")
	cmd.AddCommand(list, redrive)
	return cmd
}

// find returns the address of the dead-letter queue with the name.
func (w *work) find(name string) (string, error) {
	url, ok := w.dead[name]
	if !ok {
		return "", fmt.Errorf("there are no dead letters of %q: --queue is one of %s", name,
			strings.Join(slices.Sorted(maps.Keys(w.dead)), ", "))
	}
	return url, nil
}

// list prints the number of letters of a queue, and the subject of each.
func (w *work) list(ctx context.Context, out io.Writer, name, url string) (err error) {
	n, err := w.count(ctx, url)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "%s: %d\n", name, n); err != nil || n == 0 {
		return err
	}
	var read []letter
	defer func() { err = errors.Join(err, w.letGo(ctx, url, read)) }()
	for met := map[string]bool{}; len(met) < mostListed; {
		letters, err := w.receive(ctx, url, mostListed-len(met), len(met))
		if err != nil {
			return err
		}
		fresh := 0
		for _, l := range letters {
			read = append(read, l)
			if met[aws.ToString(l.MessageId)] {
				continue
			}
			met[aws.ToString(l.MessageId)] = true
			fresh++
			if _, err := fmt.Fprintf(out, "  %s\n", &l); err != nil {
				return err
			}
		}
		if fresh == 0 || len(met) >= n {
			break
		}
	}
	return nil
}
