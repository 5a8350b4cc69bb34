package recovery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Tables restores, reads and deletes tables of DynamoDB.
type Tables interface {
	Scanner
	RestoreTableToPointInTime(context.Context, *dynamodb.RestoreTableToPointInTimeInput,
		...func(*dynamodb.Options)) (*dynamodb.RestoreTableToPointInTimeOutput, error)
	DescribeTable(context.Context, *dynamodb.DescribeTableInput,
		...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
	DeleteTable(context.Context, *dynamodb.DeleteTableInput,
		...func(*dynamodb.Options)) (*dynamodb.DeleteTableOutput, error)
}

// Rehearsal is a rehearsal of a restore: it uses the tables of a running system, and changes nothing of them.
type Rehearsal struct {
	Tables Tables
	// State and Audit are the names of the tables. The restored ones have them with the ending Suffix, and are deleted.
	State, Audit, Suffix string
	Now                  func() time.Time
	Wait                 func(ctx context.Context, d time.Duration) error
}

// Timed is how long the steps of a rehearsal took.
type Timed struct {
	// Restore is the time to restore both tables, Check that to check the restored one.
	Restore, Check time.Duration
	Report         Report
}

// askEvery is the time between two questions whether a table is restored.
const askEvery = 5 * time.Second

// Run restores both tables to the latest second beside the running ones, checks the state table, and deletes the
// restored tables, also after a failure.
func (r Rehearsal) Run(ctx context.Context) (t Timed, err error) {
	began := r.Now()
	for _, name := range []string{r.State, r.Audit} {
		to := name + r.Suffix
		if _, err := r.Tables.RestoreTableToPointInTime(ctx, &dynamodb.RestoreTableToPointInTimeInput{
			SourceTableName: &name, TargetTableName: &to, UseLatestRestorableTime: aws.Bool(true)}); err != nil {
			return t, fmt.Errorf("restore %s: %w", name, err)
		}
		defer func() {
			_, failed := r.Tables.DeleteTable(context.WithoutCancel(ctx), &dynamodb.DeleteTableInput{TableName: &to})
			if failed != nil {
				err = errors.Join(err, fmt.Errorf("delete %s by hand: %w", to, failed))
			}
		}()
	}
	for _, name := range []string{r.State + r.Suffix, r.Audit + r.Suffix} {
		if err := r.restored(ctx, name); err != nil {
			return t, err
		}
	}
	t.Restore = r.Now().Sub(began)
	began = r.Now()
	t.Report, err = Check(ctx, r.Tables, r.State+r.Suffix)
	t.Check = r.Now().Sub(began)
	return t, err
}

// restored waits until a table is restored. AWS takes as long as it takes.
func (r Rehearsal) restored(ctx context.Context, name string) error {
	for {
		out, err := r.Tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
		if err != nil {
			return fmt.Errorf("look at %s: %w", name, err)
		}
		if out.Table.TableStatus == types.TableStatusActive {
			return nil
		}
		if err := r.Wait(ctx, askEvery); err != nil {
			return err
		}
	}
}
