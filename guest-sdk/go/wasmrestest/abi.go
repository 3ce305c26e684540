package wasmrestest

// The numbers of the ABI this package needs, named as in abi_gen.go of the SDK; a test compares the two.
const (
	channelRequest  = 0
	channelResponse = 1
	channelBody     = 2

	signalMore     = 0
	signalTooLarge = -3
	signalBadFrame = -4

	infoWallTime  = 0
	infoMonotonic = 1
	infoDeadline  = 2
	infoMaxBody   = 4
	infoServices  = 5

	logDebug = 0
	logInfo  = 1
	logWarn  = 2
	logError = 3

	maxFrame = 1048576
	maxKey   = 1024

	opDescribe  = 0
	opList      = 1
	opRead      = 2
	opComplete  = 3
	opSubscribe = 4
	opPoll      = 7
	opListDir   = 9

	serviceConfig        = 1
	serviceKVGet         = 3
	serviceKVPut         = 4
	serviceKVDelete      = 5
	serviceKVList        = 6
	serviceHTTP          = 7
	serviceSQL           = 8
	serviceNotifyUpdated = 9
	serviceNotifyList    = 10
	serviceFileStat      = 12
	serviceFileRead      = 13
	serviceFileList      = 14
	serviceStream        = 15
	serviceSQLRows       = 16
	serviceFileWrite     = 17
	serviceFileRemove    = 18

	sQLBool  = 1
	sQLInt   = 2
	sQLFloat = 3
	sQLText  = 4
	sQLBytes = 5

	codeOK            = 0
	codeNotFound      = 1
	codeInvalidParams = 2
	codeDenied        = 3
	codeUnavailable   = 4
	codeDeadline      = 6
	codeTooLarge      = 7
	codeUnsupported   = 8
	codeInternal      = 9
	codeProtocol      = 33
	codeInvalidText   = 36

	cachePublic = 1

	kindText = 1
	kindBlob = 2
)
