module github.com/content-automation/api/clients/go

go 1.25
