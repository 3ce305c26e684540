package mysql

import (
	"errors"

	driver "github.com/go-sql-driver/mysql"

	"github.com/wasmres/wasmres/abi"
)

// failed returns the public error, by the error number of the server. The message of the server is only in the cause.
func failed(err error) error {
	var e *driver.MySQLError
	if !errors.As(err, &e) {
		return abi.Errorf(abi.CodeUnavailable, "the connection to the database is lost").Because(err)
	}
	code, message := classify(e)
	return abi.Errorf(code, "%s", message).Because(err)
}

func classify(e *driver.MySQLError) (abi.Code, string) {
	switch e.Number {
	case 1317, 1969, 3024: // interrupted; took too long, by MariaDB and by MySQL
		return abi.CodeDeadline, "the statement took too long"
	case 1044, 1045, 1142, 1143, 1227, 1290, 1370, 1792, 1836, 3159: // privileges; read-only
		return abi.CodeDenied, "the statement does more than the role, or a read-only transaction, may do"
	case 1040, 1053, 1203, 1205, 1213, 1226: // too many connections, shutdown, locks
		return abi.CodeUnavailable, "the database is busy or cannot be reached"
	case 1021, 1038, 1041, 1104, 1114, 1153: // memory, disk, packets
		return abi.CodeTooLarge, "the statement uses or returns too much"
	case 1295: // not for prepared statements
		return abi.CodeDenied, "the statement does more than read"
	}
	switch string(e.SQLState[:2]) {
	case "0A", "21", "22", "42", "HY":
		return abi.CodeInvalidParams, "the database does not accept the statement or its values"
	}
	return abi.CodeInternal, "the database failed"
}
