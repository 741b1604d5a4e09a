package io.pyflow.spec

import org.apache.spark.{SparkConf, SparkEnv, TaskContext}
import org.apache.spark.sql.pyflow.{Executors, RunningTask}

/**
 * The environment of functions in this JVM.
 *
 * A worker is a process that is started with the environment of its functions. Here, each task has its
 * own `os.environ`; CPython and C libraries read the environment of the process, which is the same for all.
 * It is given the variables of the first functions, or of the application, before CPython starts. Functions
 * for which C code would read other values run in workers.
 */
object FunctionEnvironment {
  private val Threads = "OMP_NUM_THREADS"
  private val HashSeed = "PYTHONHASHSEED"
  private val Path = "PYTHONPATH"

  /** As YARN writes it for containers, too. */
  private val PathSeparator = ":|<CPS>"

  /** Nothing that changes these when CPython starts is seen. */
  private val ReadByStartOfProcess =
    "the C library reads when the process starts" -> "GLIBC_TUNABLES|LANG|LC_.+|LD_.+|LOCPATH|MALLOC_.+".r

  /**
   * Who reads which variables without `os.environ`, or once for all tasks, when a module is imported. Others,
   * such as those that programs choose for themselves, are read by Python code of the task.
   */
  private val Readers = Seq(
    ReadByStartOfProcess,
    "CPython reads when it starts" ->
      ("PYTHON[A-Z]+|PYTHON_(COLORS|CONTEXT_AWARE_WARNINGS|CPU_COUNT|FROZEN_MODULES|GIL|JIT|" +
        "PERF_JIT_SUPPORT|THREAD_INHERIT_CONTEXT|TLBC)").r,
    "the C library reads" ->
      "HOSTALIASES|LANGUAGE|LOCALDOMAIN|NLSPATH|RES_OPTIONS|TZ|TZDIR".r,
    "C code reads to find files" ->
      "HOME|TEMP|TEMPDIR|TMP|TMPDIR|XDG_.+".r,
    "libraries read for their threads and processors" ->
      ("(ARROW|BLIS|CUBLAS|CUDA|CUDNN|GOMP|GOTO|HIP|JAX|KMP|MKL|NCCL|NPY|NUMBA|NUMEXPR|NVIDIA|OMP|OPENBLAS|" +
        "POLARS|PYTORCH|RAYON|ROCR|TBB|TF|TORCH|XLA)_.+").r,
    "libraries for networks and certificates read" ->
      ("(?i:(ALL|FTP|HTTP|HTTPS|NO)_PROXY)|(CURL|GRPC|OPENSSL|SSL_CERT)_.+|KRB5.+|REQUESTS_CA_BUNDLE|" +
        "SSLKEYLOGFILE").r,
    "clients of storage and databases read" ->
      ("(AWS|AZURE|CPL|DUCKDB|GDAL|GOOGLE|HADOOP|HDF5|MYSQL|OGR|ORACLE|PROJ|SQLITE)_.+|(LIBHDFS|ODBC|PG).+|" +
        "CLASSPATH|NLS_LANG|TNS_ADMIN").r,
    "libraries read when they are imported" ->
      "(HF|TRANSFORMERS)_.+|MPL.+|NLTK_DATA".r)

  /** What CPython is started with, over the environment of the process. */
  @volatile private var ofCPython: Option[Map[String, String]] = None

  /** The variables that CPython is to be started with, once in a JVM, whoever asks first. */
  def startedWith(functions: Map[String, String]): Map[String, String] = synchronized {
    val conf = SparkEnv.get.conf
    val ofDriver = if (isLocal(conf)) ofApplication(conf) else Map.empty[String, String]
    val variables = ofCPython.getOrElse(ofDriver ++ ofWorkers(functions, conf))
    ofCPython = Some(variables)
    variables
  }

  /** What `os.environ` has for the functions of a task; None for variables that it has not. */
  def of(functions: Map[String, String], task: TaskContext): Map[String, Option[String]] = {
    val ofOthers = ofCPython.toSeq.flatMap(_.keys).map(name => name -> ofProcess(name))
    ofOthers.toMap ++ (functions ++ RunningTask.environment(task)).view.mapValues(Some(_))
  }

  /** Why functions of a task cannot run in this JVM. */
  def reasonAgainst(functions: Map[String, String], task: TaskContext): Option[String] = {
    val conf = SparkEnv.get.conf
    reason(ofWorkers(functions, conf) ++ RunningTask.environment(task), conf)
  }

  /** Why functions that are planned cannot run in executors, as far as the driver knows those. */
  def reasonAgainst(functions: Map[String, String], conf: SparkConf): Option[String] =
    reason(ofWorkers(functions, conf), conf)

  private def reason(wanted: Map[String, String], conf: SparkConf): Option[String] = {
    val ofOthers = ofCPython.filter(_ => isLocal(conf)).toSeq.flatMap(_.keys)
    val differing = (wanted.keySet ++ ofOthers).toSeq.sorted.filter { name =>
      seenByC(name, conf).exists(_ != wanted.get(name).orElse(ofProcess(name)))
    }
    differing.iterator
      .filter(name => name != HashSeed || wanted.contains(name)) // otherwise a worker has any seed
      .flatMap(name =>
        reader(name).map { readsIt =>
          s"the variable $name of its environment, which $readsIt, differs from the executor's"
        })
      .nextOption()
  }

  /** A variable as C code reads it in executors; None if that is not known. */
  private def seenByC(name: String, conf: SparkConf): Option[Option[String]] = ofCPython match {
    case _ if isLocal(conf) && ReadByStartOfProcess._2.matches(name) => Some(ofProcess(name))
    case Some(variables) => Some(variables.get(name).orElse(ofProcess(name)))
    case None if isLocal(conf) => None
    case None => ofApplication(conf).get(name).map(Some(_))
  }

  /** What workers have beside the environment of the executor's process, or instead. */
  private def ofWorkers(functions: Map[String, String], conf: SparkConf): Map[String, String] = {
    val ofExecutors = if (isLocal(conf)) Set.empty else ofApplication(conf).toSet
    val variables = withPathOfExecutor((functions.toSet -- ofExecutors).toMap, conf)
    if (ofApplication(conf).contains(Threads)) variables
    else variables + (Threads -> RunningTask.threadsOfLibraries(conf))
  }

  /** Spark puts the path of functions before that of the executor. */
  private def withPathOfExecutor(
      variables: Map[String, String],
      conf: SparkConf): Map[String, String] =
    variables.get(Path).fold(variables) { path =>
      val ofExecutor = pathOfExecutor(conf).fold(Seq.empty[String])(entries)
      val merged = (entries(path) ++ ofExecutor).distinct
      if (merged == ofExecutor) variables - Path
      else variables.updated(Path, merged.mkString(java.io.File.pathSeparator))
    }

  private def pathOfExecutor(conf: SparkConf): Option[String] =
    if (isLocal(conf) || !Executors.isDriver(SparkEnv.get.executorId)) ofProcess(Path)
    else ofApplication(conf).get(Path)

  private def entries(path: String): Seq[String] =
    path.split(PathSeparator).toSeq.filter(_.nonEmpty).distinct

  /** The environment that the application gives its executors, which a driver does not have. */
  private def ofApplication(conf: SparkConf): Map[String, String] = conf.getExecutorEnv.toMap

  private def isLocal(conf: SparkConf): Boolean = Executors.isLocal(conf)

  private def ofProcess(name: String): Option[String] = Option(System.getenv(name))

  private def reader(name: String): Option[String] =
    Readers.collectFirst { case (reader, names) if names.matches(name) => reader }
}
