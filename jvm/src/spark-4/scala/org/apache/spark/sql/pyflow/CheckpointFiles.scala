package org.apache.spark.sql.pyflow

import java.io.{BufferedOutputStream, IOException}
import java.nio.file.{Files, LinkOption, Path => LocalPath, StandardCopyOption}
import java.nio.file.attribute.PosixFilePermissions

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, FileStatus, FileSystem, FsConstants, FSDataInputStream, FSDataOutputStream, LocalFileSystem, Path, PathFilter}
import org.apache.hadoop.fs.local.LocalFs
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.spark.SparkConf
import org.apache.spark.sql.execution.streaming.checkpointing.{CheckpointFileManager, FileSystemBasedCheckpointFileManager}
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager.CancellableFSDataOutputStream
import org.apache.spark.sql.internal.SQLConf.STREAMING_CHECKPOINT_FILE_MANAGER_CLASS

/**
 * The files of a checkpoint. On a local disk they are those of [[LocalCheckpointFiles]], elsewhere those
 * of Spark's own manager.
 */
class CheckpointFiles(path: Path, hadoopConf: Configuration) extends CheckpointFileManager {
  private val files: CheckpointFileManager =
    if (CheckpointFiles.areLocal(path, hadoopConf)) {
      new LocalCheckpointFiles(path, hadoopConf)
    } else {
      val ofSpark = new Configuration(hadoopConf)
      ofSpark.unset(CheckpointFiles.Key)
      CheckpointFileManager.create(path, ofSpark)
    }

  override def createAtomic(
      path: Path,
      overwriteIfPossible: Boolean): CancellableFSDataOutputStream =
    files.createAtomic(path, overwriteIfPossible)

  override def open(path: Path): FSDataInputStream = files.open(path)

  override def list(path: Path, filter: PathFilter): Array[FileStatus] = files.list(path, filter)

  override def mkdirs(path: Path): Unit = files.mkdirs(path)

  override def exists(path: Path): Boolean = files.exists(path)

  override def delete(path: Path): Unit = files.delete(path)

  override def isLocal: Boolean = files.isLocal

  override def createCheckpointDirectory(): Path = files.createCheckpointDirectory()

  override def close(): Unit = files.close()
}

object CheckpointFiles {
  private val Key = STREAMING_CHECKPOINT_FILE_MANAGER_CLASS.parent.key

  /** Has an application's queries write their checkpoints so, if it has chosen no other way. */
  def use(conf: SparkConf): Unit = conf.setIfMissing(Key, classOf[CheckpointFiles].getName)

  /** Whether Spark's own manager would use Hadoop's file system of local files. */
  private def areLocal(path: Path, hadoopConf: Configuration): Boolean = {
    val scheme = Option(path.toUri.getScheme)
    scheme.getOrElse(FileSystem.getDefaultUri(hadoopConf).getScheme) == "file" &&
    hadoopConf.get("fs.AbstractFileSystem.file.impl") == classOf[LocalFs].getName
  }
}

/**
 * Writes files by system calls. Hadoop's file systems start a process for the mode of a file that is
 * created, and others for the links of a file that is renamed, unless they find a library of native
 * code: tens of milliseconds in each micro-batch.
 */
private class LocalCheckpointFiles(path: Path, hadoopConf: Configuration)
  extends FileSystemBasedCheckpointFileManager(path, hadoopConf) {

  /** Not one that Hive has put into its place. */
  override protected val fs: LocalFileSystem = new LocalFileSystem
  fs.initialize(FsConstants.LOCAL_FS_URI, hadoopConf)

  private val fileMode = {
    val mode = FsPermission.getFileDefault.applyUMask(FsPermission.getUMask(hadoopConf))
    val letters = Seq(mode.getUserAction, mode.getGroupAction, mode.getOtherAction)
    PosixFilePermissions.fromString(letters.map(_.SYMBOL).mkString)
  }

  override def createTempFile(path: Path): FSDataOutputStream = {
    val file = local(path)
    val out = Files.newOutputStream(file)
    try if (hasModes(file)) Files.setPosixFilePermissions(file, fileMode)
    catch {
      case e: Throwable =>
        out.close()
        Files.delete(file)
        throw e
    }
    new FSDataOutputStream(new BufferedOutputStream(out), null)
  }

  override def renameTempFile(srcPath: Path, dstPath: Path, overwriteIfPossible: Boolean): Unit = {
    val target = local(dstPath)
    if (!overwriteIfPossible && Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
      throw new FileAlreadyExistsException(
        s"cannot rename $srcPath to $dstPath, which is there already")
    }
    // Hadoop's checksum of a file that this one replaces.
    Files.deleteIfExists(target.resolveSibling(s".${target.getFileName}.crc"))
    Files.move(local(srcPath), target, StandardCopyOption.ATOMIC_MOVE)
  }

  override def mkdirs(path: Path): Unit = {
    val directory = local(path)
    if (!Files.isDirectory(directory)) super.mkdirs(path)
    if (!Files.isDirectory(directory)) throw new IOException(s"the directory $path cannot be made")
  }

  override def createCheckpointDirectory(): Path = {
    val qualified = fs.makeQualified(path)
    mkdirs(qualified)
    qualified
  }

  private def hasModes(file: LocalPath): Boolean =
    file.getFileSystem.supportedFileAttributeViews.contains("posix")

  private def local(path: Path): LocalPath = fs.pathToFile(path).toPath
}
